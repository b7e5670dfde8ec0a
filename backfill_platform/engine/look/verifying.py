"""Looks for what was changed behind the platform's back, in the ledger and in the evidence.

The ledger checks itself; here it is held against the evidence, which somebody who changes one of
them would have to change alike (test_a_manifest_changed_in_the_evidence_is_found).
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from backfill_platform.domain.approvals import Approval
from backfill_platform.domain.errors import ApprovalRefused, EvidenceBroken
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import ChunkStatus
from backfill_platform.domain.manifests import UnchangedDays, manifest_from_json
from backfill_platform.domain.reviews import Review, said_of_held
from backfill_platform.evidence.bundle import EvidenceBundle
from backfill_platform.evidence.chain import EvidenceRecord
from backfill_platform.ledger.store import Ledger

CheckSignature = Callable[[Approval | Review], str]  # the key's fingerprint, or ApprovalRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    run_id: RunId
    problems: tuple[str, ...]  # something was changed, or is gone
    notes: tuple[str, ...]  # what has to be known, and proves nothing

    @property
    def holds(self) -> bool:
        return not self.problems


def verify_run(
    ledger: Ledger, evidence: Path, run_id: RunId, *, check_signature: CheckSignature
) -> Verification:
    ours = [f"ledger: {problem}" for problem in ledger.verify_run(run_id)]
    bundle = EvidenceBundle(evidence, run_id)
    kept = [f"evidence: {problem}" for problem in _problems_of_bundle(ledger, bundle)]
    left = [f"ledger: {problem}" for problem in _problems_of_left(ledger, run_id)]
    return Verification(
        run_id=run_id,
        problems=(*ours, *kept, *left),
        notes=tuple(_notes_on_words(ledger, run_id, check_signature)),
    )


def _problems_of_left(ledger: Ledger, run_id: RunId) -> Iterator[str]:
    """Days that a run did not compute lead to the run that did, by the digest of its manifest."""
    for one in _left_by(ledger.run(run_id).manifest_json):
        if ledger.run(one.run_id).manifest_digest != one.manifest_digest:
            yield f"{one.run_id}, which computed {one.days}, has not the manifest that it had then"


def _left_by(text: str) -> tuple[UnchangedDays, ...]:
    """What is no manifest any more was told before."""
    with suppress(EvidenceBroken):
        return manifest_from_json(text).unchanged
    return ()


def _problems_of_bundle(ledger: Ledger, bundle: EvidenceBundle) -> Iterator[str]:
    if not bundle.folder.exists():
        yield f"{bundle.folder} is gone"
        return
    yield from _problems_of_manifest(ledger, bundle)
    try:
        records = bundle.records()
    except EvidenceBroken:
        yield f"{bundle.records_path.name} was changed at line {bundle.verify()}"
        return
    yield from _missing_records(ledger, bundle.run_id, records)


def _problems_of_manifest(ledger: Ledger, bundle: EvidenceBundle) -> Iterator[str]:
    if not bundle.manifest_path.exists():
        yield f"{bundle.manifest_path.name} is gone"
    elif bundle.manifest_path.read_text() != ledger.run(bundle.run_id).manifest_json:
        yield f"{bundle.manifest_path.name} differs from the manifest in the ledger"


def _missing_records(
    ledger: Ledger, run_id: RunId, records: tuple[EvidenceRecord, ...]
) -> Iterator[str]:
    """A chain does not show that its last records were cut off; the ledger knows of them."""
    kinds = {record.kind for record in records}
    if "plan" not in kinds:
        yield "the record of the plan is gone"
    known = {(record.kind, record.body.get("text")) for record in records}
    for approval in ledger.approvals(run_id):
        if ("approval", approval.signed_text) not in known:
            yield f"the record of the decision of {approval.principal} is gone or differs"
    for review in ledger.reviews(run_id):
        if ("review", review.signed_text) not in known:
            yield f"the record of the review of {review.principal} is gone or differs"
    published = [one for one in ledger.chunks(run_id) if one.status is ChunkStatus.PUBLISHED]
    if published and "publication" not in kinds:
        yield f"the record of the publication of {published[0].days} is gone"


def _notes_on_words(
    ledger: Ledger, run_id: RunId, check_signature: CheckSignature
) -> Iterator[str]:
    for word in (*ledger.approvals(run_id), *ledger.reviews(run_id)):
        what = "" if isinstance(word, Approval) else f"{said_of_held(word.held)} "
        who = f"{what}{word.decision.lower()} by {word.principal} as {word.role}"
        if word.signature is None:
            yield f"{who}, not signed"
            continue
        try:
            yield f"{who}, signed with {check_signature(word)}"
        except ApprovalRefused as refused:
            yield f"{who}; with today's keys its signature does not count: {refused}"
