"""Stages runs of `bronze.readings` by hand, judged as a test wants them. No Spark."""

from collections.abc import Mapping
from datetime import date

from backfill_platform.domain.chunks import ChunkCounts, ClaimedChunk
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.verdicts import Gate, JudgedFigure, Outcome, Verdict
from backfill_platform.engine.carry_out.progress import advance_run, begin_staging, fail_run
from backfill_platform.engine.carry_out.starting import start_run
from backfill_platform.engine.platform import Platform
from backfill_platform_tests.engine.by_hand import write_rows

Strays = Mapping[tuple[date, Gate], Outcome]


def stage_judged(
    platform: Platform,
    manifest: Manifest,
    strays: Strays,
    *,
    rows: int = 1,
    days: DayRange | None = None,
) -> None:
    """From PLANNED to wherever its verdicts lead, as one chunk; so many rows a day."""
    start_run(platform, manifest.run_id)
    chunk = days or manifest.target.partitions.span
    claim = platform.ledger.claim_chunk(
        manifest.run_id, chunk, worker=platform.worker, lease_seconds=60, now=platform.clock()
    )
    assert isinstance(claim, ClaimedChunk)
    begin_staging(platform, manifest)
    staging = platform.warehouse.staging_path(manifest.target.table, manifest.run_id)
    meters = [f"{manifest.run_id}-{number}" for number in range(rows)]
    write_rows(staging, dict.fromkeys(chunk, meters), run_id=manifest.run_id)
    platform.ledger.finish_chunk_staging(
        manifest.run_id,
        claim.chunk_id,
        claim.fencing_token,
        counts=ChunkCounts(output_count=rows * len(chunk), checksum=manifest.run_id),
        measurements=[_measured(day, manifest, rows) for day in chunk],
        now=platform.clock(),
    )
    judged = [
        _verdict(day, Gate(gate), strays.get((day, Gate(gate)), Outcome.PASSED))
        for day in chunk
        for gate in manifest.validation.gates
    ]
    platform.ledger.record_verdicts(manifest.run_id, chunk, judged, now=platform.clock())
    if any(verdict.is_refusal for verdict in judged):
        fail_run(platform, manifest.run_id, "a verdict is negative")
    advance_run(platform, manifest)


def _measured(day: date, manifest: Manifest, rows: int) -> PartitionMeasurement:
    return PartitionMeasurement(
        day=day,
        row_count=rows,
        checksum=f"{rows}:{manifest.run_id}",
        duplicate_keys=rows - 1,
        null_counts={},
        check_failures={},
        measures={"rows": rows},
    )


def _verdict(day: date, gate: Gate, outcome: Outcome) -> Verdict:
    is_good = outcome is Outcome.PASSED
    return Verdict(
        gate=gate,
        day=day,
        outcome=outcome,
        expected="0",
        found="0" if is_good else "2",
        message="" if is_good else "2 rows too many; correct the input",
        figures=(JudgedFigure(name="rows", expected="0", found="2", strays=not is_good),),
    )
