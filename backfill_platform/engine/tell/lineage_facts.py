"""Gathers what one lineage event says of a run: from its manifest, the ledger and a Delta log.

What is no longer known is left out: files may have been retired, and a chunk that was computed
again holds the figures of its newest attempt alone. No JVM.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from backfill_platform.domain.chunks import ChunkRecord
from backfill_platform.domain.contracts import LINEAGE_COLUMNS, Column
from backfill_platform.domain.errors import BackfillError
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import ChunkStatus
from backfill_platform.domain.lineage import (
    ChunkStep,
    Dataset,
    Due,
    Happening,
    LineageStep,
    Written,
    count_takings,
    find_chunk_happening,
    find_run_happening,
    find_taking,
)
from backfill_platform.domain.manifests import InputType, Manifest, PinnedInput
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.runs import PublicationFact, RunEvent, RunRecord
from backfill_platform.engine.loading import read_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.delta_tables import read_table_state


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRun:
    """What all events of one run need, read once."""

    record: RunRecord
    manifest: Manifest
    events: tuple[RunEvent, ...]


def look_up(platform: Platform, run_id: RunId) -> KnownRun:
    record = platform.ledger.run(run_id)
    events = platform.ledger.events(run_id)
    return KnownRun(record=record, manifest=read_manifest(record), events=events)


def describe_due(platform: Platform, run: KnownRun, due: Due) -> LineageStep | None:
    """Nothing where the run moved within what was told already."""
    if due.chunk is not None:
        return _describe_chunk(platform, run, due, due.chunk)
    event = next(one for one in run.events if one.seq == due.seq)
    happening = find_run_happening(event, never_publishes=run.manifest.never_publishes)
    if happening is None:
        return None
    is_complete = happening is Happening.COMPLETE
    return LineageStep(
        happening=happening,
        at=due.at,
        manifest=run.manifest,
        manifest_digest=run.record.manifest_digest,
        taking=count_takings(run.events, event.seq),
        chunk=None,
        inputs=tuple(_inputs(platform, run.manifest)),
        output=_output(platform, run.manifest, _landed(platform, run) if is_complete else None),
        written=_written_by_run(platform, run) if is_complete else None,
    )


def past_steps(platform: Platform, run: KnownRun) -> tuple[LineageStep, ...]:
    """As the ledger still knows them: of each chunk its newest attempt."""
    owed = [*_events_of(run), *_chunk_steps_of(platform, run)]
    steps = (describe_due(platform, run, one) for one in sorted(owed, key=lambda one: one.at))
    return tuple(step for step in steps if step is not None)


def _events_of(run: KnownRun) -> Iterator[Due]:
    for event in run.events:
        if event.from_state is not event.to_state:
            yield Due(position=0, run_id=run.record.run_id, at=event.at, seq=event.seq, chunk=None)


def _chunk_steps_of(platform: Platform, run: KnownRun) -> Iterator[Due]:
    for chunk in platform.ledger.chunks(run.record.run_id):
        at_times = ((ChunkStatus.CLAIMED, chunk.started_at), (chunk.status, chunk.finished_at))
        for status, at in at_times:
            if at is not None:
                step = ChunkStep(chunk_id=chunk.chunk_id, attempt=chunk.attempt, status=status)
                yield Due(position=0, run_id=chunk.run_id, at=at, seq=None, chunk=step)


def _describe_chunk(
    platform: Platform, run: KnownRun, due: Due, step: ChunkStep
) -> LineageStep | None:
    happening = find_chunk_happening(step.status)
    if happening is None:
        return None
    chunk = _find_judged(platform, run, step)
    return LineageStep(
        happening=happening,
        at=due.at,
        manifest=run.manifest,
        manifest_digest=run.record.manifest_digest,
        taking=find_taking(run.events, due.at),
        chunk=step,
        inputs=tuple(_inputs(platform, run.manifest)),
        output=_output(platform, run.manifest, None),
        written=_written_by_chunk(platform, run, chunk) if chunk else None,
        verdicts=platform.ledger.verdicts(due.run_id, chunk.days) if chunk else (),
    )


def _find_judged(platform: Platform, run: KnownRun, step: ChunkStep) -> ChunkRecord | None:
    """Where the attempt that is told of has come to its figures, and is still the newest."""
    if step.status is ChunkStatus.CLAIMED:
        return None
    chunks = platform.ledger.chunks(run.record.run_id)
    return next(
        (
            chunk
            for chunk in chunks
            if (chunk.chunk_id, chunk.attempt) == (step.chunk_id, step.attempt)
            and chunk.output_count is not None
        ),
        None,
    )


def _inputs(platform: Platform, manifest: Manifest) -> Iterator[Dataset]:
    for pinned in manifest.inputs:
        if pinned.type is InputType.TABLE:
            yield _table(platform, pinned.name, pinned.snapshot)
        else:
            yield _landed_files(platform, pinned)


def _output(platform: Platform, manifest: Manifest, version: str | None) -> Dataset:
    return _table(platform, manifest.target.table, version)


def _table(platform: Platform, table: str, version: str | None) -> Dataset:
    path = platform.warehouse.table_path(table)
    columns = _columns(platform, table)
    return Dataset(
        name=f"warehouse/{table.replace('.', '/')}",
        table=table,
        location=str(path),
        is_delta=True,
        columns=(*columns, *LINEAGE_COLUMNS) if columns else (),
        version=version,
    )


def _landed_files(platform: Platform, pinned: PinnedInput) -> Dataset:
    source = platform.catalog.sources.get(pinned.name)
    path = source.path if source else pinned.name
    return Dataset(
        name=f"landing/{path}",
        table=pinned.name,
        location=str(platform.landing / path),
        is_delta=False,
        columns=_columns(platform, pinned.name),
        version=pinned.snapshot,
    )


def _columns(platform: Platform, name: str) -> tuple[Column, ...]:
    """As declared now; nothing of what is declared no more."""
    contract = platform.catalog.contracts.get(name)
    return contract.columns if contract else ()


def _landed(platform: Platform, run: KnownRun) -> str | None:
    versions = [
        one.version
        for one in platform.ledger.publications(run.record.run_id)
        if one.outcome is PublicationFact.LANDED and one.version is not None
    ]
    return str(max(versions)) if versions else None


def _written_by_run(platform: Platform, run: KnownRun) -> Written | None:
    chunks = platform.ledger.chunks(run.record.run_id)
    counts = [chunk.output_count for chunk in chunks if chunk.output_count is not None]
    if not counts:
        return None  # a rollback computes nothing
    return _written(platform, run.manifest, sum(counts), run.manifest.target.partitions)


def _written_by_chunk(platform: Platform, run: KnownRun, chunk: ChunkRecord) -> Written:
    days = PartitionSet.of_range(chunk.days)
    return _written(platform, run.manifest, chunk.output_count, days)


def _written(
    platform: Platform, manifest: Manifest, rows: int | None, days: PartitionSet
) -> Written:
    """Files and bytes as the run's staging table says, as long as it is there."""
    staging = platform.warehouse.staging_path(manifest.target.table, manifest.run_id)
    try:
        state = read_table_state(staging, days)
    except BackfillError:
        state = None
    if state is None:
        return Written(rows=rows, bytes=None, files=None)
    sizes = [file.size_bytes for files in state.files.values() for file in files]
    return Written(rows=rows, bytes=sum(sizes), files=len(sizes))
