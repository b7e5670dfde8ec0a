"""Finishes what was left half done, until nothing is: recovering twice equals recovering once.

The target's log decides: what landed is recorded with all that follows from it, what did not is
given up and may be published again. Nothing is published, computed or deleted here, and no JVM is
needed. Several may recover the same run at once: each step is guarded, and whoever comes too late
looks again (test_two_that_recover_at_once_leave_what_one_would).
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import assert_never

from backfill_platform.domain.errors import BackfillError, LostRace
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.engine.carry_out.progress import (
    advance_run,
    end_replaced,
    fail_run,
    stop_publishing,
    supersede_runs,
)
from backfill_platform.engine.consent.consents import hold_for_publication
from backfill_platform.engine.journal import about_run, note
from backfill_platform.engine.loading import read_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.announcing import announce_run
from backfill_platform.engine.publish.fencing import fenced
from backfill_platform.engine.publish.publishing import record_landed
from backfill_platform.engine.recover.diagnosis import Diagnosis, diagnose
from backfill_platform.engine.recover.missing_evidence import complete_evidence
from backfill_platform.engine.recover.remedies import (
    Advance,
    EndReplaced,
    FailRun,
    FinishRollback,
    FreeChunk,
    GiveUp,
    KeepPlan,
    KeepPublication,
    KeepVerdicts,
    MarkPublished,
    RecordLanding,
    Remedy,
    StandBack,
    TellUntold,
)
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.lakehouse.delta_tables import published_version

NEWEST = 1000  # runs that are looked at when none is named
_ROUNDS = 20  # each of them brings the run one step further; a life has fewer


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """What was found about one run, and what was done about it, or would be."""

    run_id: RunId
    state: RunState
    remedies: tuple[Remedy, ...]
    left_alone: tuple[str, ...]
    problem: str  # why it could not be recovered; empty when it could

    @property
    def is_well(self) -> bool:
        return not (self.remedies or self.left_alone or self.problem)


def find_half_done(platform: Platform, run_id: RunId | None = None) -> tuple[Recovery, ...]:
    """What would be done first, for a run or for the newest ones; nothing is written."""
    return _each(platform, run_id, lambda one: _recovery(diagnose(platform, one)))


def recover(platform: Platform, run_id: RunId | None = None) -> tuple[Recovery, ...]:
    """A run, or the newest ones, each as far as it can be: a problem with one stops no other."""
    return _each(platform, run_id, lambda one: recover_run(platform, one))


def recover_each(platform: Platform, run_ids: Iterable[RunId]) -> tuple[Recovery, ...]:
    """These alone, in this order; a problem with one stops no other."""
    return tuple(
        _guarded(platform, run_id, lambda one: recover_run(platform, one)) for run_id in run_ids
    )


def recover_run(platform: Platform, run_id: RunId) -> Recovery:
    done: list[Remedy] = []
    for _ in range(_ROUNDS):
        found = diagnose(platform, run_id)
        if not found.remedies:
            return _recovery(found, tuple(done))
        manifest = read_manifest(found.run)
        for remedy in found.remedies:
            # Somebody was quicker, where a race is lost; the next look shows what is left.
            with suppress(LostRace), about_run(manifest):
                _carry_out(platform, manifest, remedy)
                note(platform, "run_recovered", remedy=type(remedy).__name__)
                done.append(remedy)
    raise LostRace(f"Run {run_id} moves all the time; recover it again when it has come to rest")


def _each(
    platform: Platform, run_id: RunId | None, look: Callable[[RunId], Recovery]
) -> tuple[Recovery, ...]:
    """The oldest first: what was replaced is settled before what replaced it."""
    if run_id is not None:
        return (look(run_id),)
    records = reversed(platform.ledger.runs(limit=NEWEST))
    return tuple(_guarded(platform, record.run_id, look) for record in records)


def _guarded(platform: Platform, run_id: RunId, look: Callable[[RunId], Recovery]) -> Recovery:
    try:
        return look(run_id)
    except BackfillError as problem:
        return Recovery(
            run_id=run_id,
            state=platform.ledger.run(run_id).state,
            remedies=(),
            left_alone=(),
            problem=f"{problem.code}: {problem}",
        )


def _recovery(found: Diagnosis, done: tuple[Remedy, ...] | None = None) -> Recovery:
    return Recovery(
        run_id=found.run.run_id,
        state=found.run.state,
        remedies=found.remedies if done is None else done,
        left_alone=found.left_alone,
        problem="",
    )


def _carry_out(platform: Platform, manifest: Manifest, remedy: Remedy) -> None:
    match remedy:
        case RecordLanding() | GiveUp() | FinishRollback():
            _settle_outcome(platform, manifest, remedy)
        case MarkPublished() | FreeChunk():
            _settle_chunk(platform, manifest, remedy)
        case Advance() | FailRun() | StandBack() | EndReplaced():
            _settle_run(platform, manifest, remedy)
        case KeepPlan() | KeepVerdicts() | KeepPublication():
            complete_evidence(platform, manifest, remedy)
        case TellUntold():
            announce_run(platform, manifest.run_id)
        case _:
            assert_never(remedy)


def _settle_outcome(
    platform: Platform, manifest: Manifest, remedy: RecordLanding | GiveUp | FinishRollback
) -> None:
    match remedy:
        case RecordLanding(publication_id=publication_id, version=version, days=days):
            record_landed(platform, manifest, publication_id, days, version)
            supersede_runs(platform, manifest)
        case GiveUp():
            _give_up(platform, manifest, remedy)
        case FinishRollback():
            roll_back(platform, manifest.run_id)


def _give_up(platform: Platform, manifest: Manifest, remedy: GiveUp) -> None:
    """Under a fence, so that whoever is at work on it all the same commits nothing any more; and
    what landed before the fence was taken is seen here."""
    target = platform.warehouse.table_path(manifest.target.table)
    with fenced(platform, manifest, PartitionSet.of_days(remedy.days)):
        if published_version(target, remedy.publication_id) is None:
            platform.ledger.give_up_intent(remedy.publication_id, now=platform.clock())


def _settle_chunk(
    platform: Platform, manifest: Manifest, remedy: MarkPublished | FreeChunk
) -> None:
    run_id, now = manifest.run_id, platform.clock()
    match remedy:
        case MarkPublished(days=days):
            platform.ledger.mark_chunk_published(run_id, days, now=now)
        case FreeChunk(chunk_id=chunk_id, fencing_token=token, cause=cause):
            platform.ledger.fail_chunk(run_id, chunk_id, token, error=cause, now=now)


def _settle_run(
    platform: Platform, manifest: Manifest, remedy: Advance | FailRun | StandBack | EndReplaced
) -> None:
    match remedy:
        case Advance():
            advance_run(platform, manifest)
            supersede_runs(platform, manifest)  # what is PUBLISHED now may have been replaced
            hold_for_publication(platform, manifest)
        case FailRun(cause=cause):
            fail_run(platform, manifest.run_id, cause)
        case StandBack():
            cause = "recovered: nobody publishes it any more, and what landed is recorded"
            stop_publishing(platform, manifest.run_id, cause)
        case EndReplaced(taken_by=taken_by):
            end_replaced(platform, manifest.run_id, taken_by)
