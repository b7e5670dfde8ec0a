"""Carries a planned rollback out: partitions hold again what they held before a run, in one commit.

A rollback is a run: it has a manifest, waits for consent, moves through the same states and leaves
the same traces. It computes nothing: the files were measured and judged when they were published,
and are still there. No JVM. What may be rolled back, and until when, is decided in `planner`.
"""

from dataclasses import dataclass
from datetime import date

from backfill_platform.domain.approvals import ConsentPoint
from backfill_platform.domain.contracts import Column
from backfill_platform.domain.errors import (
    GateFailed,
    ManifestDrifted,
    RunStopped,
    StagingIncomplete,
    TargetMoved,
    Terminal,
)
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.journal import Level
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import PublishMode
from backfill_platform.domain.publications import Publication
from backfill_platform.domain.runs import (
    AcceptedPartition,
    PublicationFact,
    PublicationIntent,
    RunRecord,
)
from backfill_platform.domain.schema_changes import apply_changes
from backfill_platform.engine.carry_out.pacing import refuse_stopped
from backfill_platform.engine.carry_out.progress import (
    begin_publishing,
    move_run,
    stop_publishing,
    supersede_runs,
)
from backfill_platform.engine.consent.consents import refuse_without_consent
from backfill_platform.engine.journal import about_run, note, note_failure
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.plan.inputs import moved_inputs
from backfill_platform.engine.plan.planning import keep_plan
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.announcing import tell_or_leave
from backfill_platform.engine.publish.fencing import fenced
from backfill_platform.engine.records import keep_record
from backfill_platform.engine.retire.traces import refuse_while_retiring
from backfill_platform.engine.rollback.planning import state_of_plan
from backfill_platform.engine.rollback.returned_rows import returned_rows
from backfill_platform.engine.rollback.undoing import undoable_until
from backfill_platform.lakehouse.delta_tables import published_version, read_table_state
from backfill_platform.lakehouse.former_files import former_files
from backfill_platform.planner.rollback import former_versions
from backfill_platform.publisher.replace_partitions import BeforeCommit
from backfill_platform.publisher.return_partitions import return_partitions, returned_files

_S = RunState
_DONE = frozenset({_S.PUBLISHED, _S.SUPERSEDED, _S.ROLLED_BACK})

# A rollback walks the road of every run, and says at each step why there is nothing to do.
_ROAD = (
    (_S.PLANNED, _S.APPROVED, "whoever has to agree to a rollback has agreed"),
    (_S.AWAITING_APPROVAL, _S.APPROVED, "whoever has to agree to a rollback has agreed"),
    (_S.APPROVED, _S.STAGING, "nothing is computed: the files that were replaced return"),
    (_S.STAGING, _S.STAGED, "the files that return are still where they were"),
    (_S.STAGED, _S.VALIDATED, "they were measured and judged when they were published"),
    (_S.VALIDATED, _S.PUBLISHING, "they are made visible again"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledBack:
    manifest: Manifest
    version: int  # of the target in which the rollback landed
    undone: RunRecord  # ROLLED_BACK when nothing is owed to it any more
    accepted: tuple[AcceptedPartition, ...]  # what consumers see now, for every day of the rollback


def roll_back(platform: Platform, run_id: RunId) -> RolledBack:
    """Carries out a planned rollback. Doing it twice equals doing it once, and after a crash the
    target's log decides (test_after_a_crash_between_commit_and_fact_a_rollback_converges)."""
    manifest = load_manifest(platform, run_id)
    with about_run(manifest):
        return _roll_back(platform, manifest)


def _roll_back(platform: Platform, manifest: Manifest) -> RolledBack:
    run_id, undone = manifest.run_id, _undone_run(manifest)
    is_done = platform.ledger.run(run_id).state in _DONE
    version = _recorded_version(platform, manifest) if is_done else _land(platform, manifest)
    _keep_records(platform, manifest, undone, version)
    tell_or_leave(platform, manifest)
    accepted = platform.ledger.accepted(manifest.target.table, manifest.target.partitions)
    return RolledBack(
        manifest=manifest,
        version=version,
        undone=platform.ledger.run(undone),
        accepted=tuple(accepted.values()),
    )


def _undone_run(manifest: Manifest) -> RunId:
    if manifest.undoes is None:
        run_id = manifest.run_id
        raise GateFailed(f"{run_id} is no rollback; to undo it: `backfill rollback {run_id}`")
    return manifest.undoes.run_id


def _recorded_version(platform: Platform, manifest: Manifest) -> int:
    first_day = manifest.target.partitions.span.start
    history = platform.ledger.accepted_history(manifest.target.table, first_day)
    return next(one.target_version for one in history if one.run_id == manifest.run_id)


def _land(platform: Platform, manifest: Manifest) -> int:
    target = platform.warehouse.table_path(manifest.target.table)
    version = published_version(target, _publication_id(manifest))
    if version is None:
        _refuse_what_may_not_begin(platform, manifest)
        version = _commit(platform, manifest)
    _record(platform, manifest, version)
    _settle(platform, manifest, version)
    return version


def _refuse_what_may_not_begin(platform: Platform, manifest: Manifest) -> None:
    """Invariant: no partition is rolled back without the consent that the policy asks for
    (test_a_rollback_is_refused_without_the_consent_that_the_policy_asks_for)."""
    run_id = manifest.run_id
    refuse_stopped(platform, run_id)
    if state_of_plan(platform, manifest) is _S.EXPIRED:
        cause = f"nobody carried it out before {manifest.valid_until:%Y-%m-%d %H:%M} UTC"
        move_run(platform, run_id, platform.ledger.run(run_id).state, _S.EXPIRED, cause)
        raise RunStopped(f"Rollback {run_id} has expired: {cause}. Plan it again")
    try:
        refuse_without_consent(platform, manifest, ConsentPoint.PUBLICATION)
    except Terminal as refused:  # after a crash: nobody could agree to it while it is PUBLISHING
        stop_publishing(platform, run_id, str(refused)[:1000])
        raise
    moved = moved_inputs(platform, manifest)
    if moved:
        raise ManifestDrifted(run_id, moved)


def _commit(platform: Platform, manifest: Manifest) -> int:
    """Intent, then commit; the fact is recorded by whoever finds the commit in the log."""
    publication = _publication(platform, manifest)
    returning = (file.path for file in publication.files)
    refuse_while_retiring(platform.ledger, publication.table, returning)
    keep_plan(platform, manifest)
    with fenced(platform, manifest, manifest.target.partitions) as guard:
        for state, following, cause in _ROAD:
            move_run(platform, manifest.run_id, state, following, cause)
        _intend(platform, manifest, publication)
        return _return_partitions(platform, manifest, publication, guard)


def _intend(platform: Platform, manifest: Manifest, publication: Publication) -> None:
    intent = PublicationIntent(
        publication_id=publication.publication_id,
        run_id=manifest.run_id,
        table=publication.table,
        days=publication.days,
        base=publication.base,
        files_count=len(publication.files),
    )
    platform.ledger.record_intent(intent, now=platform.clock())
    note(platform, "rollback_intended", partitions=len(intent.days), files=intent.files_count)


def _return_partitions(
    platform: Platform, manifest: Manifest, publication: Publication, guard: BeforeCommit
) -> int:
    target, versions = platform.warehouse.table_path(publication.table), former_versions(manifest)
    try:
        return return_partitions(target, publication, versions, before_commit=guard).version
    except Terminal as refused:  # it did not land and never will: the intent is over
        platform.ledger.give_up_intent(publication.publication_id, now=platform.clock())
        stop_publishing(platform, manifest.run_id, str(refused)[:1000])
        _end_moved(platform, manifest, refused)
        note_failure(platform, "rollback_refused", refused, level=Level.WARNING)
        raise


def _end_moved(platform: Platform, manifest: Manifest, refused: Terminal) -> None:
    """What it was planned on is gone for good, so it gives its partitions free."""
    if isinstance(refused, TargetMoved):
        cause = "somebody else wrote to its partitions after it was planned"
        move_run(platform, manifest.run_id, _S.VALIDATED, _S.CANCELLED, cause)


def _publication(platform: Platform, manifest: Manifest) -> Publication:
    table = manifest.target.table
    files = former_files(platform.warehouse.table_path(table), former_versions(manifest))
    if files is None:
        raise StagingIncomplete(
            f"What {table} held before {manifest.run_id} can no longer be read; "
            "restate the days with a new run"
        )
    return Publication(
        publication_id=_publication_id(manifest),
        table=table,
        partition_column=platform.catalog.tables[table].partition_column,
        days=tuple(manifest.target.partitions),
        files=returned_files(files, manifest.target.output_version),
        base={day: manifest.target.base_of(day) for day in manifest.target.partitions},
        commit_info={
            "run_id": manifest.run_id,
            "kind": manifest.kind.value,
            "reason": manifest.reason,
            "undoes": _undone_run(manifest),
            "manifest_digest": manifest.digest,
            "requested_by": manifest.requested_by,
        },
        is_whole_table=manifest.target.publish_mode is PublishMode.SHADOW_SWAP,
        columns=_columns(platform, manifest),
        schema_changes=manifest.target.schema_changes,
        version_column=manifest.target.version_column,
        output_version=manifest.target.output_version,
    )


def _columns(platform: Platform, manifest: Manifest) -> tuple[Column, ...] | None:
    """Of the target from then on; as they are unless the rows that return need others."""
    target = manifest.target
    state = read_table_state(platform.warehouse.table_path(target.table), target.partitions)
    if state is None or not target.schema_changes:
        return None
    return apply_changes(state.columns, target.schema_changes)


def _publication_id(manifest: Manifest) -> str:
    return f"{manifest.run_id}/rollback"


def _record(platform: Platform, manifest: Manifest, version: int) -> None:
    intended = platform.ledger.publications(manifest.run_id)
    if any(one.outcome is not PublicationFact.LANDED for one in intended):
        platform.ledger.record_fact(
            _publication_id(manifest),
            version=version,
            accepted=returned_rows(platform, manifest),
            now=platform.clock(),
        )
        days = len(manifest.target.partitions)
        note(platform, "rollback_committed", partitions=days, version=version)


def _settle(platform: Platform, manifest: Manifest, version: int) -> None:
    begin_publishing(platform, manifest.run_id)
    supersede_runs(platform, manifest)  # the undone one is rolled back, if nothing is left to it
    until = undoable_until(platform, manifest.target.table, version)
    cause = (
        f"it landed in version {version} of the target, and can itself be rolled back until "
        f"{until:%Y-%m-%d %H:%M} UTC"
    )
    move_run(platform, manifest.run_id, _S.PUBLISHING, _S.PUBLISHED, cause)


def _keep_records(platform: Platform, manifest: Manifest, undone: RunId, version: int) -> None:
    """In the evidence of both runs: whoever looks at one of them finds the other."""
    days = [day.isoformat() for day in manifest.target.partitions]
    body = {"days": days, "delta_version": version, "reason": manifest.reason}
    keep_record(
        platform,
        manifest.run_id,
        "rollback",
        key="rollback",
        body={**body, "undoes": undone, "returned_to": _plain(former_versions(manifest))},
    )
    keep_record(
        platform,
        undone,
        "rolled_back",
        key=f"rolled_back:{manifest.run_id}",
        body={**body, "rolled_back_by": manifest.run_id},
    )


def _plain(versions: dict[date, int]) -> dict[str, int]:
    return {day.isoformat(): version for day, version in sorted(versions.items())}
