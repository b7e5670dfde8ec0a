"""Consent to one manifest: what is asked for, what was given, and the text that is signed."""

import json
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from backfill_platform.domain.canonical import canonical_json
from backfill_platform.domain.errors import ApprovalRefused
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.modes import RunKind
from backfill_platform.domain.plain import from_plain, to_plain

SIGNATURE_NAMESPACE = "backfill-approval"  # of `ssh-keygen -Y sign -n …`


class ConsentPoint(StrEnum):
    """Before what the consent has to be there; publication never goes without."""

    STAGING = "STAGING"  # nothing is computed before
    PUBLICATION = "PUBLICATION"  # computed and judged first, so that a diff can be reviewed


class Decision(StrEnum):
    APPROVED = "APPROVED"
    REJECTED = "REJECTED"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedChange:
    """What a policy's conditions are about."""

    table: str
    layer: str
    kind: RunKind
    partitions: int
    is_full: bool
    rows_read: int
    cost_usd: Decimal  # the expected cost
    replaces_accepted: bool  # or only fills partitions that hold nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """What the policy asks for one manifest; no roles means that nobody has to agree."""

    rule: str  # the policy's rule that asks for it
    roles: tuple[str, ...]  # each by another principal, and none by the requester
    before: ConsentPoint
    signed: bool
    valid_hours: int  # how long a consent holds
    notify: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """One principal's decision on one manifest digest, in one role."""

    run_id: RunId
    manifest_digest: str
    principal: str
    role: str
    decision: Decision
    reason: str
    decided_at: datetime
    expires_at: datetime
    signature: str | None = None  # SSHSIG, armored, over `signed_text`

    @property
    def signed_text(self) -> str:
        """Everything but the signature, as canonical JSON."""
        document: dict[str, Any] = to_plain(self)
        del document["signature"]
        return canonical_json(document)


def read_signed_text(text: str, signature: str | None) -> Approval:
    """The approval that somebody drafted here and signed elsewhere."""
    try:
        approval = from_plain(Approval, {**json.loads(text), "signature": signature})
    except (KeyError, TypeError, ValueError) as wrong:
        raise ApprovalRefused(
            f"This is not the text of an approval ({wrong}); have it drafted again, and sign "
            "exactly that file"
        ) from wrong
    if approval.signed_text != text:
        raise ApprovalRefused(
            "The text of the approval was written anew since it was drafted, so no signature of "
            "it counts; have it drafted again, and sign exactly that file"
        )
    return approval
