"""Takes a principal's yes or no to a run, and refuses what would not count."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from backfill_platform.domain.approvals import Approval, Decision
from backfill_platform.domain.errors import ApprovalRefused
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.runs import AlreadyRecorded
from backfill_platform.engine.carry_out.progress import move_run
from backfill_platform.engine.consent.consents import consent_of
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.records import keep_record
from backfill_platform.governance.consent import Consent, check_approval, choose_role
from backfill_platform.governance.signatures import verifier


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    approval: Approval
    was_known: bool  # the same principal had decided the same before; nothing was written
    consent: Consent


def draft_approval(
    platform: Platform,
    run_id: RunId,
    *,
    principal: str,
    role: str | None = None,
    decision: Decision = Decision.APPROVED,
    reason: str = "",
) -> Approval:
    """What the principal would sign; `ssh-keygen -Y sign` may do it elsewhere."""
    manifest = load_manifest(platform, run_id)
    existing = platform.ledger.approvals(run_id)
    now = platform.clock()
    standing = (one for one in existing if _says_the_same(one, principal, decision, now))
    known = next(standing, None)
    if known is not None:
        return known
    return Approval(
        run_id=run_id,
        manifest_digest=manifest.digest,
        principal=principal,
        role=role or choose_role(principal, manifest.approval, platform.policy, existing),
        decision=decision,
        reason=reason,
        decided_at=now,
        expires_at=now + timedelta(hours=manifest.approval.valid_hours),
    )


def decide(platform: Platform, approval: Approval) -> Decided:
    """Doing it twice equals doing it once."""
    manifest = load_manifest(platform, approval.run_id)
    existing = platform.ledger.approvals(approval.run_id)
    if approval not in existing:
        _check(platform, manifest, approval, existing)
    outcome = platform.ledger.record_approval(approval, now=platform.clock())
    consent = consent_of(platform, manifest)
    _keep(platform, outcome.approval)
    if not consent.missing and approval.decision is Decision.APPROVED:
        _release(platform, manifest)
    return Decided(
        approval=outcome.approval,
        was_known=isinstance(outcome, AlreadyRecorded),
        consent=consent,
    )


def _check(
    platform: Platform, manifest: Manifest, approval: Approval, existing: tuple[Approval, ...]
) -> None:
    if approval.decision is Decision.REJECTED and not approval.reason.strip():
        raise ApprovalRefused(
            f"A rejection of {manifest.run_id} needs a reason: whoever asked has to know what to "
            "change. Give it with --reason"
        )
    now = platform.clock()
    check_approval(
        approval,
        manifest_digest=manifest.digest,
        requirement=manifest.approval,
        requested_by=manifest.requested_by,
        policy=platform.policy,
        existing=existing,
        verify=verifier(platform.signers, now=now),
        now=now,
    )


def _release(platform: Platform, manifest: Manifest) -> None:
    """Every role has agreed: what waited for it may go on."""
    cause = f"{' and '.join(manifest.approval.roles)} agreed"
    state, following = RunState.AWAITING_APPROVAL, RunState.APPROVED
    move_run(platform, manifest.run_id, state, following, cause)


def _keep(platform: Platform, approval: Approval) -> None:
    keep_record(
        platform,
        approval.run_id,
        "approval",
        key=f"approval:{approval.principal}:{approval.decision}:{approval.decided_at.isoformat()}",
        body={"text": approval.signed_text, "signature": approval.signature},
    )


def _says_the_same(one: Approval, principal: str, decision: Decision, now: datetime) -> bool:
    """One that has expired says nothing any more, and may be given anew."""
    return one.principal == principal and one.decision is decision and one.expires_at > now
