"""Makes the validated partitions of a chunk visible, and records it before and after.

Invariant: nothing is published whose gates did not pass
(test_publication_is_refused_without_stored_positive_verdicts), or whose approvals are missing. The
lock is here and not in the orchestrator, so it holds whoever asks and from wherever.
"""

from dataclasses import dataclass
from datetime import date

from backfill_platform.domain.approvals import ConsentPoint
from backfill_platform.domain.errors import ApprovalMissing, GateFailed, Terminal
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import ChunkStatus
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import content_by_day
from backfill_platform.domain.modes import ExecutionMode
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.plain import to_plain
from backfill_platform.domain.publications import (
    Compaction,
    Publication,
    PublicationOutcome,
    Published,
)
from backfill_platform.domain.runs import AcceptedPartition, AcceptedRows, PublicationIntent
from backfill_platform.domain.verdicts import Gate
from backfill_platform.engine.carry_out.boundaries import refuse_cut, refuse_rollback
from backfill_platform.engine.carry_out.pacing import refuse_stopped, wait_for_commit
from backfill_platform.engine.carry_out.progress import (
    advance_run,
    begin_publishing,
    stop_publishing,
    supersede_runs,
)
from backfill_platform.engine.consent.consents import refuse_without_consent
from backfill_platform.engine.loading import load_manifest, read_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.cutoff import days_equal_to_accepted
from backfill_platform.engine.publish.fencing import fenced
from backfill_platform.engine.records import keep_record
from backfill_platform.lakehouse.delta_tables import staged_files
from backfill_platform.publisher.replace_partitions import BeforeCommit, publish

SETTLED = frozenset({ChunkStatus.VALIDATED, ChunkStatus.PUBLISHED})


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkPublication:
    changed: tuple[date, ...]
    unchanged: tuple[date, ...]  # equal to what is accepted: not published, and nobody is woken
    compaction: Compaction | None  # seen through: somebody had rearranged what was replaced
    accepted: tuple[AcceptedPartition, ...]  # what consumers see now, for every day of the chunk
    version: int | None  # of the target in which this chunk landed; nothing if nothing changed


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
    manifest = load_manifest(platform, run_id)
    refuse_rollback(manifest)
    refuse_cut(manifest, days)
    _refuse_mode(manifest)
    refuse_stopped(platform, run_id)
    _refuse_unless_validated(platform, run_id, days)
    refuse_without_consent(platform, manifest, ConsentPoint.PUBLICATION)
    _refuse_unasked(manifest, by_hand=by_hand)
    wait_for_commit(platform, manifest)
    with fenced(platform, manifest, PartitionSet.of_range(days)) as guard:
        begin_publishing(platform, run_id)
        done = _publish_changed(platform, manifest, days, guard)
    for chunk in platform.ledger.chunks(run_id):
        if days.covers(chunk.days) and chunk.status is ChunkStatus.VALIDATED:
            platform.ledger.mark_chunk_published(run_id, chunk.days, now=platform.clock())
    advance_run(platform, manifest)
    supersede_runs(platform, manifest)
    keep_publication(platform, run_id, days, done)
    return done


def _publish_changed(
    platform: Platform, manifest: Manifest, days: DayRange, before_commit: BeforeCommit
) -> ChunkPublication:
    """Where nothing differs from what is accepted, nothing is committed
    (test_a_run_that_changes_nothing_commits_nothing)."""
    unchanged = days_equal_to_accepted(platform, manifest, days)
    changed = tuple(day for day in days if day not in unchanged)
    outcome = _publish_days(platform, manifest, days, changed, before_commit) if changed else None
    accepted = platform.ledger.accepted(manifest.target.table, days)
    return ChunkPublication(
        changed=changed,
        unchanged=unchanged,
        compaction=outcome.compaction if isinstance(outcome, Published) else None,
        accepted=tuple(accepted[day] for day in days if day in accepted),
        version=outcome.version if outcome else None,
    )


def keep_publication(
    platform: Platform, run_id: RunId, days: DayRange, done: ChunkPublication
) -> None:
    body = {
        "days": str(days),
        "changed": [day.isoformat() for day in done.changed],
        "unchanged": [day.isoformat() for day in done.unchanged],
        "delta_version": done.version,
        "compaction": to_plain(done.compaction),
    }
    keep_record(platform, run_id, "publication", key=f"publication:{days}", body=body)


def _refuse_mode(manifest: Manifest) -> None:
    if manifest.mode in {ExecutionMode.DRY_RUN, ExecutionMode.RECONCILIATION}:
        raise GateFailed(f"Run {manifest.run_id} is a {manifest.mode}; it never publishes")


def _refuse_unasked(manifest: Manifest, *, by_hand: bool) -> None:
    if manifest.safety.requires_manual_publish and not by_hand:
        raise ApprovalMissing(
            f"Run {manifest.run_id} is staged and judged, and it is to be published by hand: "
            f"`backfill publish {manifest.run_id}`"
        )


def _refuse_unless_validated(platform: Platform, run_id: RunId, days: DayRange) -> None:
    verdicts = platform.ledger.verdicts(run_id, days)
    passed = {(verdict.day, verdict.gate) for verdict in verdicts if verdict.has_passed}
    missing = [(day, gate) for day in days for gate in Gate if (day, gate) not in passed]
    if missing:
        day, gate = missing[0]
        raise GateFailed(
            f"{len(missing)} verdicts of run {run_id} for {days} are negative or missing "
            f"(first {gate} of {day}), so nothing is published and {days} stays as it was. "
            "Mend the cause and launch a new run"
        )
    # A chunk that is being staged again keeps its former verdicts until it is judged again.
    unsettled = set(days) - platform.ledger.covered_days(run_id, SETTLED)
    if unsettled:
        raise GateFailed(
            f"{len(unsettled)} days of run {run_id} (first {min(unsettled)}) are being staged "
            "again, so nothing is published. Wait until they are judged"
        )


def _publish_days(
    platform: Platform,
    manifest: Manifest,
    days: DayRange,
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
        raise
    record_landed(platform, manifest, publication.publication_id, changed, outcome.version)
    return outcome


def build_publication(
    platform: Platform, manifest: Manifest, days: DayRange, changed: tuple[date, ...]
) -> Publication:
    table = manifest.target.table
    staging = platform.warehouse.staging_path(table, manifest.run_id)
    return Publication(
        publication_id=f"{manifest.run_id}/{days}",
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
    )


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
