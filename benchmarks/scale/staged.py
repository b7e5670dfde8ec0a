"""Leads a planned run to where it may be published, without computing anything.

Claims, measurements and verdicts go through the ledger as a worker's would. What is staged are
empty files of the size that their log names: a publication looks at names, sizes and statistics.
"""

import json
from datetime import date
from pathlib import Path

from deltalake import DeltaTable
from deltalake.transaction import AddAction, CommitProperties, RemoveAction

from backfill_platform.domain.chunks import ChunkCounts, ClaimedChunk
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.verdicts import Gate, Outcome, Verdict
from backfill_platform.engine.carry_out.progress import advance_run, begin_staging, fail_run
from backfill_platform.engine.carry_out.starting import start_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.records import keep_verdicts
from benchmarks.scale.catalog import DAY
from benchmarks.scale.logs import FILE_BYTES, FILE_ROWS


def stage_run(platform: Platform, manifest: Manifest, *, with_files: bool) -> None:
    """From PLANNED to VALIDATED, by the chunks of its plan."""
    start_run(platform, manifest.run_id)
    for days in manifest.chunks:
        claimed = claim(platform, manifest, days)
        begin_staging(platform, manifest)
        if with_files:
            _write_files(platform, manifest, days)
        _judge(platform, manifest, claimed, days)
    advance_run(platform, manifest)


def fail_at_once(platform: Platform, manifest: Manifest) -> None:
    start_run(platform, manifest.run_id)
    claimed = claim(platform, manifest, manifest.chunks[0])
    begin_staging(platform, manifest)
    platform.ledger.fail_chunk(
        manifest.run_id,
        claimed.chunk_id,
        claimed.fencing_token,
        error="on paper",
        now=platform.clock(),
    )
    fail_run(platform, manifest.run_id, "on paper")


def claim(platform: Platform, manifest: Manifest, days: DayRange) -> ClaimedChunk:
    claimed = platform.ledger.claim_chunk(
        manifest.run_id,
        days,
        worker=platform.worker,
        lease_seconds=600,
        max_partitions_at_once=None,
        now=platform.clock(),
    )
    assert isinstance(claimed, ClaimedChunk), "nobody else is here"
    return claimed


def _judge(platform: Platform, manifest: Manifest, claimed: ClaimedChunk, days: DayRange) -> None:
    run_id, now = manifest.run_id, platform.clock()
    platform.ledger.finish_chunk_staging(
        run_id,
        claimed.chunk_id,
        claimed.fencing_token,
        counts=ChunkCounts(output_count=len(days) * FILE_ROWS, checksum="of all"),
        measurements=[_measured(day, manifest.run_id) for day in days],
        now=now,
    )
    gates = [Gate(gate) for gate in manifest.validation.gates]
    judged = [_passed(day, gate) for day in days for gate in gates]
    platform.ledger.record_verdicts(run_id, days, judged, now=now)
    keep_verdicts(platform, run_id, days, judged)


def _measured(day: date, said: str) -> PartitionMeasurement:
    """Other rows than are accepted, so that every day changes."""
    return PartitionMeasurement(
        day=day,
        row_count=FILE_ROWS,
        checksum=f"{FILE_ROWS}:{said}",
        duplicate_keys=0,
        null_counts={},
        check_failures={},
        measures={"rows": FILE_ROWS},
    )


def _passed(day: date, gate: Gate) -> Verdict:
    return Verdict(
        gate=gate,
        day=day,
        outcome=Outcome.PASSED,
        expected="as declared",
        found="as declared",
        message="",
    )


def _write_files(platform: Platform, manifest: Manifest, days: DayRange) -> None:
    path = platform.warehouse.staging_path(manifest.target.table, manifest.run_id)
    table = DeltaTable(str(path))
    adds: list[AddAction | RemoveAction] = [_write_file(path, day) for day in days]
    table.create_write_transaction(
        adds,
        "append",
        table.schema(),
        [DAY],
        commit_properties=CommitProperties(custom_metadata={"userMetadata": "{}"}),
    )


def _write_file(path: Path, day: date) -> AddAction:
    name = f"{DAY}={day}/part-00000.parquet"
    file = path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as sparse:
        sparse.truncate(FILE_BYTES)
    known = {"id": 1, "amount": 1, "text": "a word of some length"}
    statistics = {
        "numRecords": FILE_ROWS,
        "minValues": known,
        "maxValues": known,
        "nullCount": dict.fromkeys(known, 0),
    }
    return AddAction(
        path=name,
        size=FILE_BYTES,
        partition_values={DAY: day.isoformat()},
        modification_time=0,
        data_change=True,
        stats=json.dumps(statistics),
    )
