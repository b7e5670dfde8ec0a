"""Finds runs that somebody was at work on and is no more, and says which of them may go on.

What was left half done is finished by `recover`, by its rules: nobody who is alive is disturbed.
Here it is only decided whom to look at, so that a look costs the same however long the history is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from backfill_platform.domain.chunks import ChunkRecord
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import ChunkStatus, RunState
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.recover.diagnosis import was_abandoned

QUIET = timedelta(minutes=2)  # whoever is alive has moved the run, or renewed its lease, since
LOOK_BACK = timedelta(days=1)  # where nobody remembers when somebody looked last
MOST_ATTEMPTS = 3  # of a chunk whose workers die

_S = RunState
_MOVING = frozenset({_S.STAGING, _S.STAGED, _S.PUBLISHING})
_RESTING = frozenset(
    {
        *(_S.VALIDATED, _S.AWAITING_PUBLISH, _S.FAILED),
        *(_S.PUBLISHED, _S.SUPERSEDED, _S.ROLLED_BACK),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsettled:
    """Runs to look at, each once."""

    abandoned: tuple[RunId, ...]  # whose lease has ended, or whose publication has no outcome
    moving: tuple[RunId, ...]  # that have not come further lately; somebody may be about to
    resting: tuple[RunId, ...]  # that came to rest since somebody looked: their last steps may lack
    looked_until: datetime


def find_unsettled(platform: Platform, since: datetime | None, *, limit: int) -> Unsettled:
    """`since` is what an earlier look returned as `looked_until`."""
    now, ledger = platform.clock(), platform.ledger
    quiet = now - QUIET
    moving = ledger.runs_at(_MOVING, until=quiet, limit=limit)
    resting = ledger.runs_at(_RESTING, since=since or now - LOOK_BACK, until=quiet, limit=limit)
    abandoned = ledger.abandoned_runs(now, limit=limit)
    return Unsettled(
        abandoned=abandoned,
        moving=tuple(one.run_id for one in moving if one.run_id not in abandoned),
        resting=tuple(one.run_id for one in resting if one.run_id not in abandoned),
        looked_until=resting[-1].updated_at if len(resting) == limit else quiet,
    )


def may_go_on(state: RunState, chunks: Sequence[ChunkRecord]) -> bool:
    """Whether workers died on it and nothing else is wrong: what failed on its own content is left
    to somebody, and so is a chunk whose workers died again and again."""
    failed = [chunk for chunk in chunks if chunk.status is ChunkStatus.FAILED]
    return (
        state in {_S.STAGING, _S.FAILED}
        and bool(failed)
        and all(was_abandoned(chunk) and chunk.attempt < MOST_ATTEMPTS for chunk in failed)
    )
