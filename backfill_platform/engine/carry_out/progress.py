"""Moves a run to where its partitions are: a run's state is that of its least advanced one.

Several chunks may finish at once. Each then walks the same way; a lost race means that another one
has moved the run already, and nothing is left to do.
"""

from collections.abc import Iterable

from backfill_platform.domain.chunks import ChunkRecord
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import ChunkStatus, RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import RunKind
from backfill_platform.domain.runs import Moved
from backfill_platform.engine.loading import read_manifest
from backfill_platform.engine.platform import Platform

_VALIDATED = frozenset({ChunkStatus.VALIDATED, ChunkStatus.PUBLISHED})
_PUBLISHED = frozenset({ChunkStatus.PUBLISHED})

# From which state, to which, once every partition is in a chunk with one of these statuses.
_STEPS = (
    (RunState.STAGING, RunState.STAGED, _VALIDATED | {ChunkStatus.STAGED}),
    (RunState.STAGED, RunState.VALIDATED, _VALIDATED),
    # Published before it was known to be validated: the chunks were quicker than the run.
    (RunState.VALIDATED, RunState.PUBLISHING, _PUBLISHED),
    (RunState.AWAITING_PUBLISH, RunState.PUBLISHING, _PUBLISHED),
    (RunState.PUBLISHING, RunState.PUBLISHED, _PUBLISHED),
)


def begin_staging(platform: Platform, manifest: Manifest) -> None:
    state = platform.ledger.run(manifest.run_id).state
    if state in {RunState.APPROVED, RunState.FAILED}:
        move_run(platform, manifest.run_id, state, RunState.STAGING, "a chunk is being computed")


def advance_run(platform: Platform, manifest: Manifest) -> None:
    partitions = len(manifest.target.partitions)
    while True:
        state = platform.ledger.run(manifest.run_id).state
        chunks = platform.ledger.chunks(manifest.run_id)
        following = due_state(state, chunks, partitions=partitions)
        if following is None:
            return
        cause = f"all {partitions} partitions have come this far"
        move_run(platform, manifest.run_id, state, following, cause)


def due_state(
    state: RunState, chunks: Iterable[ChunkRecord], *, partitions: int
) -> RunState | None:
    """The next state, where every partition has come further than the run says."""
    for standing, following, statuses in _STEPS:
        if state is standing:
            covered = {day for chunk in chunks if chunk.status in statuses for day in chunk.days}
            return following if len(covered) == partitions else None
    return None


def begin_publishing(platform: Platform, run_id: RunId) -> None:
    """Said before the commit; a run whose other partitions are still being staged stays behind."""
    state = platform.ledger.run(run_id).state
    if state in {RunState.VALIDATED, RunState.AWAITING_PUBLISH}:
        cause = "publication of its validated partitions begins"
        move_run(platform, run_id, state, RunState.PUBLISHING, cause)


def stop_publishing(platform: Platform, run_id: RunId, cause: str) -> None:
    """Only after a refusal: with any other end the target's log decides, and nobody knows yet."""
    if platform.ledger.run(run_id).state is RunState.PUBLISHING:
        move_run(platform, run_id, RunState.PUBLISHING, RunState.VALIDATED, cause)


def fail_run(platform: Platform, run_id: RunId, cause: str) -> None:
    state = platform.ledger.run(run_id).state
    if state in {RunState.STAGING, RunState.STAGED}:
        move_run(platform, run_id, state, RunState.FAILED, cause)


def supersede_runs(platform: Platform, manifest: Manifest) -> None:
    """A run that no partition is owed to any more has been superseded as a whole."""
    for run_id, taken_by in platform.ledger.replaced_runs(manifest.target.table).items():
        end_replaced(platform, run_id, taken_by)


def end_replaced(platform: Platform, run_id: RunId, taken_by: RunId) -> None:
    """Who took the last partition says how the run ended, and not who looks first
    (test_an_undone_run_is_rolled_back_whoever_looks_first)."""
    is_undone = _undoes(platform, taken_by) == run_id
    took = "took back" if is_undone else "replaced"
    platform.ledger.move(
        run_id,
        RunState.PUBLISHED,
        RunState.ROLLED_BACK if is_undone else RunState.SUPERSEDED,
        actor=platform.worker,
        cause=f"{taken_by} {took} the last of its partitions",
        details={"rolled_back_by": taken_by} if is_undone else {},
        now=platform.clock(),
        superseded_by=taken_by,
    )


def _undoes(platform: Platform, run_id: RunId) -> RunId | None:
    record = platform.ledger.run(run_id)
    undone = read_manifest(record).undoes if record.kind is RunKind.ROLLBACK else None
    return undone.run_id if undone else None


def move_run(
    platform: Platform,
    run_id: RunId,
    state: RunState,
    following: RunState,
    cause: str,
    *,
    actor: str | None = None,
) -> bool:
    """Whether this call moved it; if not, another one did, and the run stands where that led."""
    outcome = platform.ledger.move(
        run_id,
        state,
        following,
        actor=actor or platform.worker,
        cause=cause,
        details={},
        now=platform.clock(),
    )
    return isinstance(outcome, Moved)
