"""Leads runs of `bronze.readings` without Spark: delta-rs writes the staged rows, and they are
measured and judged here. Planning, publication and everything else are the engine's own."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from pathlib import Path

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, write_deltalake

from backfill_platform.domain.chunks import ChunkCounts, ClaimedChunk
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.domain.modes import VersionColumn
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.verdicts import Gate, JudgedFigure, Outcome, Verdict
from backfill_platform.engine.carry_out.progress import advance_run, begin_staging
from backfill_platform.engine.carry_out.starting import start_run
from backfill_platform.engine.consent.consents import hold_for_publication
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.publishing import ChunkPublication, publish_chunk
from backfill_platform.engine.records import keep_verdicts

Meters = Mapping[date, Sequence[str]]  # a row for each, and their names are all its content


def run_by_hand(platform: Platform, manifest: Manifest, meters: Meters) -> ChunkPublication:
    """From PLANNED to PUBLISHED, as one chunk."""
    stage_by_hand(platform, manifest, meters)
    return publish_chunk(platform, manifest.run_id, manifest.target.partitions.span)


def stage_by_hand(
    platform: Platform,
    manifest: Manifest,
    meters: Meters,
    chunks: Sequence[DayRange] = (),
    *,
    held: Collection[date] = (),
    warned: Collection[date] = (),
) -> None:
    """From PLANNED to VALIDATED, as one chunk where nothing else is said."""
    start_run(platform, manifest.run_id)
    for days in chunks or (manifest.target.partitions.span,):
        stage_chunk_by_hand(platform, manifest, days, meters, held=held, warned=warned)
    advance_run(platform, manifest)
    hold_for_publication(platform, manifest)


def stage_chunk_by_hand(
    platform: Platform,
    manifest: Manifest,
    days: DayRange,
    meters: Meters,
    *,
    held: Collection[date] = (),
    warned: Collection[date] = (),
) -> None:
    claim = _claim(platform, manifest, days)
    begin_staging(platform, manifest)
    staging = platform.warehouse.staging_path(manifest.target.table, manifest.run_id)
    of_chunk = {day: named for day, named in meters.items() if day in days}
    write_rows(
        staging, of_chunk, run_id=manifest.run_id, output_version=manifest.target.output_version
    )
    measured = [_measured(day, of_chunk.get(day, ())) for day in days]
    output_count = sum(one.row_count for one in measured)
    platform.ledger.finish_chunk_staging(
        manifest.run_id,
        claim.chunk_id,
        claim.fencing_token,
        counts=ChunkCounts(output_count=output_count, checksum="sum"),
        measurements=measured,
        now=platform.clock(),
    )
    said = dict.fromkeys(held, Outcome.HELD) | dict.fromkeys(warned, Outcome.WARNED)
    judged = [_judged(day, gate, said) for day in days for gate in Gate]
    platform.ledger.record_verdicts(manifest.run_id, days, judged, now=platform.clock())
    keep_verdicts(platform, manifest.run_id, days, judged)


def write_rows(
    path: Path, meters: Meters, *, run_id: str, said: str = "", output_version: str | None = None
) -> None:
    """An append; what is not a run's own writes with its name and some word of its own."""
    rows = [(day, meter) for day, named in meters.items() for meter in named]
    table = pa.table(
        {
            "day": pa.array([day for day, _ in rows], pa.date32()),
            "meter": pa.array([meter for _, meter in rows], pa.string()),
            "amount": pa.array(range(len(rows)), pa.int64()),
            "produced_by_run_id": [run_id] * len(rows),
            "transform_version": ["load-readings/1.0.0"] * len(rows),
            "input_snapshot": ["1"] * len(rows),
            "processing_mode": ["BACKFILL"] * len(rows),
            "reference_data_version": pa.array([None] * len(rows), pa.string()),
            **{column: [output_version] * len(rows) for column in VersionColumn if output_version},
        }
    )
    properties = CommitProperties(custom_metadata={"userMetadata": said} if said else None)
    write_deltalake(path, _in_columns_of(path, table), mode="append", commit_properties=properties)


def _in_columns_of(path: Path, rows: pa.Table) -> pa.Table:
    """A column that only the table at `path` has says of each row what its meter is."""
    wanted = pa.schema(DeltaTable(path).schema().to_arrow())
    return pa.table(
        {
            field.name: rows[field.name if field.name in rows.column_names else "meter"].cast(
                field.type
            )
            for field in wanted
        }
    )


def _claim(platform: Platform, manifest: Manifest, days: DayRange) -> ClaimedChunk:
    claimed = platform.ledger.claim_chunk(
        manifest.run_id,
        days,
        worker=platform.worker,
        lease_seconds=60,
        max_partitions_at_once=None,
        now=platform.clock(),
    )
    assert isinstance(claimed, ClaimedChunk)
    return claimed


def _measured(day: date, meters: Sequence[str]) -> PartitionMeasurement:
    digest = hashlib.sha256("\n".join(sorted(meters)).encode()).hexdigest()
    return PartitionMeasurement(
        day=day,
        row_count=len(meters),
        checksum=f"{len(meters)}:{digest[:16]}",
        duplicate_keys=0,
        null_counts={},
        check_failures={},
        measures={},
    )


def _judged(day: date, gate: Gate, said: Mapping[date, Outcome]) -> Verdict:
    if gate is Gate.CHANGE_EXPECTED and day in said:
        return _strayed(day, said[day])
    return Verdict(gate=gate, day=day, outcome=Outcome.PASSED, expected="", found="", message="")


def _strayed(day: date, outcome: Outcome) -> Verdict:
    fell = JudgedFigure(name="meters", expected="10 (-20 % to +20 %)", found="2", strays=True)
    return Verdict(
        gate=Gate.CHANGE_EXPECTED,
        day=day,
        outcome=outcome,
        expected="1 figure within bounds",
        found="0 of 1",
        message="meters fell by 80.0 % (from 10 to 2); up to 20 % is usual",
        figures=(fell,),
    )
