"""Ends plans whose term is over and that nobody has begun, so that they hold nothing any more.

Whoever begins such a plan, or wants its partitions, would end it as well; this one does it unasked.
"""

from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.runs import RunRecord
from backfill_platform.engine.carry_out.progress import move_run
from backfill_platform.engine.platform import Platform

ACTOR = "expire-plans"


def expire_overdue(platform: Platform, *, limit: int) -> tuple[RunRecord, ...]:
    """Those that this call has ended; whoever began one in the meantime has won."""
    overdue = platform.ledger.overdue_runs(platform.clock(), limit=limit)
    return tuple(record for record in overdue if _expire(platform, record))


def _expire(platform: Platform, record: RunRecord) -> bool:
    assert record.valid_until is not None, "only what had a term is overdue"
    cause = f"nobody began it before {record.valid_until:%Y-%m-%d %H:%M} UTC"
    return move_run(platform, record.run_id, record.state, RunState.EXPIRED, cause, actor=ACTOR)
