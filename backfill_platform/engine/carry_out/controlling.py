"""Stops a run that has not begun to publish. What is at work on it notices and gives up.

A rejection is an approver's and stands in `approving`; taking back what is published is a rollback.
"""

from datetime import datetime
from pathlib import Path

from backfill_platform.domain.errors import IllegalTransition, LostRace
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState, may_follow
from backfill_platform.domain.runs import Moved, RunRecord
from backfill_platform.evidence.bundle import EvidenceBundle
from backfill_platform.ledger.store import Ledger

_ATTEMPTS = 5  # a run at work moves a few times at most while somebody cancels it


def cancel_run(
    ledger: Ledger, evidence: Path, run_id: RunId, *, actor: str, reason: str, now: datetime
) -> RunRecord:
    """Doing it twice equals doing it once."""
    if not reason.strip():
        raise IllegalTransition(f"Say why {run_id} is cancelled: whoever planned it will ask")
    record = _cancel(ledger, run_id, actor=actor, reason=reason, now=now)
    EvidenceBundle(evidence, run_id).append(
        kind="cancelled", key="cancelled", at=now, body={"actor": actor, "reason": reason}
    )
    return record


def refuse_cancelling(record: RunRecord) -> None:
    if record.state is RunState.CANCELLED or may_follow(record.state, RunState.CANCELLED):
        return
    advice = (
        "it is being published, and the target's log decides how that ends"
        if record.state is RunState.PUBLISHING
        else "only what is not yet published can be cancelled"
    )
    raise IllegalTransition(f"Run {record.run_id} is {record.state}: {advice}")


def refuse_retrying(record: RunRecord) -> None:
    if record.state is not RunState.FAILED:
        raise IllegalTransition(
            f"Run {record.run_id} is {record.state}, and only a FAILED run is tried again; "
            f"`backfill status {record.run_id}` says what it waits for"
        )


def _cancel(ledger: Ledger, run_id: RunId, *, actor: str, reason: str, now: datetime) -> RunRecord:
    for _ in range(_ATTEMPTS):
        record = ledger.run(run_id)
        refuse_cancelling(record)
        if record.state is RunState.CANCELLED:
            return record
        outcome = ledger.move(
            run_id,
            record.state,
            RunState.CANCELLED,
            actor=actor,
            cause=reason,
            details={},
            now=now,
        )
        if isinstance(outcome, Moved):
            return outcome.run
    raise LostRace(f"Run {run_id} moves all the time; cancel it again")
