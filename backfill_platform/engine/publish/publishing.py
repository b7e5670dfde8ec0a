"""Makes validated partitions visible, of a chunk or of a whole run; records it before and after.

Each call is one commit. What has to be there first is asked in `permission`, and whether a day
changes at all in `cutoff`; after a crash in between, the target's log decides.
"""

from dataclasses import dataclass
from datetime import date

from backfill_platform.domain.errors import GateFailed, TargetMoved, Terminal
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.journal import Level
from backfill_platform.domain.lifecycle import ChunkStatus, RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import content_by_day
from backfill_platform.domain.modes import PublishMode
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.plain import to_plain
from backfill_platform.domain.publications import (
    Compaction,
    Publication,
    PublicationOutcome,
    Published,
)
from backfill_platform.domain.runs import (
    AcceptedPartition,
    AcceptedRows,
    PublicationFact,
    PublicationIntent,
)
from backfill_platform.engine.carry_out.pacing import wait_for_commit
from backfill_platform.engine.carry_out.progress import (
    advance_run,
    begin_publishing,
    stop_publishing,
    supersede_runs,
)
from backfill_platform.engine.journal import about_run, note, note_failure
from backfill_platform.engine.loading import load_manifest, read_manifest
from backfill_platform.engine.plan.target_schema import declared_columns
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.announcing import tell_or_leave
from backfill_platform.engine.publish.cutoff import unchanged_days
from backfill_platform.engine.publish.fencing import fenced
from backfill_platform.engine.publish.permission import refuse_publication
from backfill_platform.engine.records import keep_record
from backfill_platform.lakehouse.delta_tables import staged_files
from backfill_platform.publisher.replace_partitions import BeforeCommit, publish

WHOLE_RUN = "whole-run"  # the name of its publication: that of days could be of any length


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkPublication:
    """What one commit made visible: of a chunk, or of all chunks of a run at once."""

    changed: tuple[date, ...]
    unchanged: tuple[date, ...]  # equal to what is accepted: not published, and nobody is woken
    compaction: Compaction | None  # seen through: somebody had rearranged what was replaced
    accepted: tuple[AcceptedPartition, ...]  # what consumers see now, for every asked day
    version: int | None  # of the target in which it landed; nothing if nothing changed


def find_run(platform: Platform, origin: str) -> Manifest:
    record = platform.ledger.run_by_origin(origin)
    if record is None:
        raise GateFailed(
            f"Nothing is staged for {origin}, so nothing can be published. "
            "Launch the staging asset together with the table"
        )
    return read_manifest(record)


def publish_chunk(
    platform: Platform, run_id: RunId, days: DayRange, *, by_hand: bool = True
) -> ChunkPublication:
    """`by_hand` says that somebody asked for this publication by itself, and that it does not only
    follow staging in the same launch."""
    return publish_partitions(platform, run_id, PartitionSet.of_range(days), by_hand=by_hand)


def publish_partitions(
    platform: Platform, run_id: RunId, days: PartitionSet, *, by_hand: bool = True
) -> ChunkPublication:
    """Whatever lies between them stays as it is."""
    manifest = load_manifest(platform, run_id)
    with about_run(manifest, days):
        return _publish_partitions(platform, manifest, days, by_hand=by_hand)


def _publish_partitions(
    platform: Platform, manifest: Manifest, days: PartitionSet, *, by_hand: bool
) -> ChunkPublication:
    run_id = manifest.run_id
    refuse_publication(platform, manifest, days, by_hand=by_hand)
    is_done = _is_published_at_once(platform, manifest)
    done = (_recall if is_done else _publish)(platform, manifest, days)
    for chunk in platform.ledger.chunks(run_id):
        if days.covers(chunk.days) and chunk.status is ChunkStatus.VALIDATED:
            platform.ledger.mark_chunk_published(run_id, chunk.days, now=platform.clock())
    advance_run(platform, manifest)
    supersede_runs(platform, manifest)
    keep_publication(platform, run_id, days, done)
    tell_or_leave(platform, manifest)
    return done


def _is_published_at_once(platform: Platform, manifest: Manifest) -> bool:
    is_published = platform.ledger.run(manifest.run_id).state is RunState.PUBLISHED
    return is_published and manifest.target.publish_scope.is_at_once


def _recall(platform: Platform, manifest: Manifest, days: PartitionSet) -> ChunkPublication:
    """Publishing all of it twice equals publishing it once
    (test_a_whole_run_that_is_published_twice_is_told_as_it_landed)."""
    publications = platform.ledger.publications(manifest.run_id)
    landed = next((one for one in publications if one.outcome is PublicationFact.LANDED), None)
    changed = landed.intent.days if landed else ()
    accepted = platform.ledger.accepted(manifest.target.table, days)
    return ChunkPublication(
        changed=changed,
        unchanged=tuple(day for day in days if day not in changed),
        compaction=None,
        accepted=tuple(accepted[day] for day in days if day in accepted),
        version=landed.version if landed else None,
    )


def _publish(platform: Platform, manifest: Manifest, days: PartitionSet) -> ChunkPublication:
    wait_for_commit(platform, manifest)
    with fenced(platform, manifest, days) as guard:
        begin_publishing(platform, manifest.run_id)
        return _publish_changed(platform, manifest, days, guard)


def _publish_changed(
    platform: Platform, manifest: Manifest, days: PartitionSet, before_commit: BeforeCommit
) -> ChunkPublication:
    """Where nothing differs from what is accepted, nothing is committed
    (test_a_run_that_changes_nothing_commits_nothing)."""
    unchanged = unchanged_days(platform, manifest, days)
    changed = tuple(day for day in days if day not in unchanged)
    _refuse_left(platform, manifest, changed)
    if not changed:
        note(platform, "publication_unneeded", partitions=len(unchanged))
    outcome = _publish_days(platform, manifest, days, changed, before_commit) if changed else None
    accepted = platform.ledger.accepted(manifest.target.table, days)
    return ChunkPublication(
        changed=changed,
        unchanged=unchanged,
        compaction=outcome.compaction if isinstance(outcome, Published) else None,
        accepted=tuple(accepted[day] for day in days if day in accepted),
        version=outcome.version if outcome else None,
    )


def _refuse_left(platform: Platform, manifest: Manifest, changed: tuple[date, ...]) -> None:
    """Invariant: a day that was not computed is never published: there is nothing of it in staging,
    and so nothing would be left of it (test_a_day_that_was_left_is_never_published)."""
    moved = tuple(day for day in changed if day in manifest.unchanged_days)
    if not moved:
        return
    cause = (
        f"{PartitionSet.of_days(moved)} of {manifest.target.table} was left as it was accepted, "
        "and no longer holds that"
    )
    stop_publishing(platform, manifest.run_id, cause)
    raise TargetMoved(
        f"Run {manifest.run_id} is not published: {cause}. See who wrote there, end this run "
        f"(`backfill cancel {manifest.run_id}`) and plan another one",
        days=moved,
    )


def keep_publication(
    platform: Platform, run_id: RunId, days: PartitionSet, done: ChunkPublication
) -> None:
    body = {
        "days": str(days),
        "changed": [day.isoformat() for day in done.changed],
        "unchanged": [day.isoformat() for day in done.unchanged],
        "delta_version": done.version,
        "compaction": to_plain(done.compaction),
    }
    keep_record(platform, run_id, "publication", key=f"publication:{days}", body=body)


def _publish_days(
    platform: Platform,
    manifest: Manifest,
    days: PartitionSet,
    changed: tuple[date, ...],
    before_commit: BeforeCommit,
) -> PublicationOutcome:
    """Intent, commit, fact: after a crash in between, the target's log decides."""
    publication = build_publication(platform, manifest, days, changed)
    platform.ledger.record_intent(
        PublicationIntent(
            publication_id=publication.publication_id,
            run_id=manifest.run_id,
            table=manifest.target.table,
            days=changed,
            base=publication.base,
            files_count=len(publication.files),
        ),
        now=platform.clock(),
    )
    note(platform, "publication_intended", partitions=len(changed), files=len(publication.files))
    table = manifest.target.table
    try:
        outcome = publish(
            platform.warehouse.table_path(table),
            platform.warehouse.staging_path(table, manifest.run_id),
            publication,
            before_commit=before_commit,
        )
    except Terminal as refused:  # it did not land and never will: the intent is over
        platform.ledger.give_up_intent(publication.publication_id, now=platform.clock())
        stop_publishing(platform, manifest.run_id, f"{days}: {refused}"[:1000])
        note_failure(platform, "publication_refused", refused, level=Level.WARNING)
        raise
    record_landed(platform, manifest, publication.publication_id, changed, outcome.version)
    note(platform, "publication_committed", partitions=len(changed), version=outcome.version)
    return outcome


def build_publication(
    platform: Platform,
    manifest: Manifest,
    days: PartitionSet | DayRange,
    changed: tuple[date, ...],
) -> Publication:
    table = manifest.target.table
    staging = platform.warehouse.staging_path(table, manifest.run_id)
    return Publication(
        publication_id=_publication_id(manifest, days),
        table=table,
        partition_column=platform.catalog.tables[table].partition_column,
        days=changed,
        files=staged_files(staging, PartitionSet.of_days(changed)),
        base={day: manifest.target.base_of(day) for day in changed},
        commit_info={
            "run_id": manifest.run_id,
            "kind": manifest.kind.value,
            "reason": manifest.reason,
            "transform": f"{manifest.transform.name}/{manifest.transform.version}",
            "manifest_digest": manifest.digest,
            "requested_by": manifest.requested_by,
        },
        version_column=manifest.target.version_column,
        output_version=manifest.target.output_version,
        columns=declared_columns(platform, table),
        schema_changes=manifest.target.schema_changes,
        is_whole_table=manifest.target.publish_mode is PublishMode.SHADOW_SWAP,
    )


def _publication_id(manifest: Manifest, days: PartitionSet | DayRange) -> str:
    is_at_once = manifest.target.publish_scope.is_at_once
    return f"{manifest.run_id}/{WHOLE_RUN if is_at_once else days}"


def record_landed(
    platform: Platform,
    manifest: Manifest,
    publication_id: str,
    changed: tuple[date, ...],
    version: int,
) -> None:
    staged = content_by_day(platform.ledger.measurements(manifest.run_id, changed), changed)
    platform.ledger.record_fact(
        publication_id,
        version=version,
        accepted=[
            AcceptedRows(day=day, row_count=content.row_count, checksum=content.checksum)
            for day, content in staged.items()
        ],
        now=platform.clock(),
    )
