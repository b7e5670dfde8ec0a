"""Computes, writes, measures and judges chunks of a run. Doing it twice equals doing it once.

The verdicts are stored and not acted upon: whoever publishes reads them again.
"""

from contextlib import suppress
from dataclasses import dataclass

from pyspark.sql import SparkSession

from backfill_platform.domain.chunks import ChunkCounts, ChunkDone, ClaimedChunk
from backfill_platform.domain.errors import ChunkRefused, LostRace
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import ChunkStatus
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import (
    PartitionMeasurement,
    SourceMeasurement,
    combined_checksum,
)
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.privacy import Protection
from backfill_platform.domain.transforms import TransformVersion
from backfill_platform.domain.verdicts import Verdict
from backfill_platform.engine.carry_out.boundaries import refuse_cut
from backfill_platform.engine.carry_out.claims import claim_chunk
from backfill_platform.engine.carry_out.computing import compute_days
from backfill_platform.engine.carry_out.deployment import pinned_transform
from backfill_platform.engine.carry_out.examining import examine_first
from backfill_platform.engine.carry_out.judging import judge_chunk
from backfill_platform.engine.carry_out.leases import kept_lease
from backfill_platform.engine.carry_out.measuring import (
    inputs_measured_beside,
    measure_chunk,
    measure_inputs,
)
from backfill_platform.engine.carry_out.pacing import (
    cost_of_rows,
    hold_chunk,
    rows_read,
    rows_read_by_chunk,
    wait_for_chunk,
)
from backfill_platform.engine.carry_out.parts import Part, StartSpark, computed_parts
from backfill_platform.engine.carry_out.progress import begin_staging, fail_run
from backfill_platform.engine.carry_out.quarantining import set_rows_aside
from backfill_platform.engine.carry_out.unchanged import leave_days, left_figures
from backfill_platform.engine.deletions import run_protection
from backfill_platform.engine.journal import about_chunk, note, note_failure
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.records import keep_merge
from backfill_platform.executor.merging import Merged
from backfill_platform.executor.staging import write_chunk

_SMALL_DAY_ROWS = 10_000  # read for each day that is written


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedChunk:
    manifest: Manifest
    days: DayRange
    staged: tuple[PartitionMeasurement, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def has_passed(self) -> bool:
        """What is held or warned of is staged for good; whether it is published is asked later."""
        return not any(verdict.is_refusal for verdict in self.verdicts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    merged: tuple[Merged, ...]  # where the table is published by a keyed merge
    seconds: float


def stage_days(
    platform: Platform, start_spark: StartSpark, run_id: RunId, days: DayRange
) -> StagedChunk:
    """In the manifest's own chunks, one after the other: whoever cut `days` may not know its
    limits. The first chunk that does not pass ends it. Spark is started where something is to be
    computed (test_a_run_that_leaves_every_day_starts_no_spark)."""
    manifest = load_manifest(platform, run_id)
    done: list[StagedChunk] = []
    for chunk in PartitionSet.of_range(days).split(manifest.chunk_days, manifest.target.boundary):
        done.append(_stage_chunk(platform, start_spark, run_id, chunk))
        if not done[-1].has_passed:
            break
    return StagedChunk(
        manifest=manifest,
        days=days,
        staged=tuple(measured for chunk in done for measured in chunk.staged),
        verdicts=tuple(verdict for chunk in done for verdict in chunk.verdicts),
    )


def stage_chunk(
    platform: Platform, spark: SparkSession, run_id: RunId, days: DayRange
) -> StagedChunk:
    """Exactly these days, for whoever has Spark at hand."""
    return _stage_chunk(platform, lambda: spark, run_id, days)


def _stage_chunk(
    platform: Platform, start_spark: StartSpark, run_id: RunId, days: DayRange
) -> StagedChunk:
    manifest = load_manifest(platform, run_id)
    with about_chunk(manifest, days):
        return _stage(platform, start_spark, manifest, days)


def _stage(
    platform: Platform, start_spark: StartSpark, manifest: Manifest, days: DayRange
) -> StagedChunk:
    if not manifest.target.partitions.covers(days):
        raise ChunkRefused(
            f"{days} is not within the partitions of run {manifest.run_id} "
            f"({manifest.target.partitions}); plan a new run for it"
        )
    refuse_cut(manifest, days)
    transform = pinned_transform(platform, manifest)
    wait_for_chunk(platform, manifest)
    protection = run_protection(platform, manifest)
    match claim_chunk(platform, manifest, days):
        case ChunkDone(chunk=chunk) if chunk.status is not ChunkStatus.STAGED:
            verdicts = platform.ledger.verdicts(manifest.run_id, days)
            return _staged(platform, manifest, days, verdicts)
        case ChunkDone(chunk=chunk):  # a former attempt died between measuring and judging
            parts = computed_parts(platform, start_spark, manifest, days, protection)
            inputs = measure_inputs(platform, manifest, parts, protection)
            return _judged(platform, manifest, days, parts, inputs, chunk.fencing_token, protection)
        case ClaimedChunk() as claim:
            note(platform, "chunk_claimed", attempt=claim.attempt, worker=platform.worker)
            return _work(platform, start_spark, manifest, transform, claim, protection)


def _work(
    platform: Platform,
    start_spark: StartSpark,
    manifest: Manifest,
    transform: TransformVersion,
    claim: ClaimedChunk,
    protection: Protection,
) -> StagedChunk:
    days = claim.days
    try:
        begin_staging(platform, manifest)
        leave_days(platform, manifest, days)
        parts = computed_parts(platform, start_spark, manifest, days, protection)
        if parts:
            examine_first(platform, manifest, transform, parts[0].frames, parts[0].days)
        with inputs_measured_beside(platform, manifest, parts, protection) as inputs_measured:
            with kept_lease(platform, manifest.run_id, claim):
                written = _compute(platform, manifest, transform, parts, protection)
                for merged in written.merged:
                    keep_merge(platform, manifest.run_id, claim, merged.counts())
                note(platform, "chunk_written", seconds=written.seconds)
                computed = _measure(platform, start_spark, manifest, parts, protection)
                _note_measured(platform, computed)
                hold_chunk(platform, manifest)
            _finish(platform, manifest, claim, computed, written)
            inputs = inputs_measured()
        return _judged(platform, manifest, days, parts, inputs, claim.fencing_token, protection)
    except BaseException as failure:
        _give_back(platform, manifest, claim, _cause(failure))
        note_failure(platform, "chunk_failed", failure)
        raise


def _cause(failure: BaseException) -> str:
    """Whoever terminates a worker has not cancelled its run: it waits to be taken up again."""
    if isinstance(failure, Exception):
        return f"{type(failure).__name__}: {failure}"[:1000]
    return "its worker was interrupted; tried again, the run goes on from this chunk"


def _give_back(platform: Platform, manifest: Manifest, claim: ClaimedChunk, cause: str) -> None:
    """Whatever ended it, the chunk may be claimed again at once, without waiting for its lease.
    If somebody has claimed it already, it is theirs and there is nothing to give back."""
    with suppress(LostRace):
        platform.ledger.fail_chunk(
            manifest.run_id,
            claim.chunk_id,
            claim.fencing_token,
            error=cause,
            now=platform.clock(),
        )
        fail_run(platform, manifest.run_id, f"{claim.days}: {cause}")


def _compute(
    platform: Platform,
    manifest: Manifest,
    transform: TransformVersion,
    parts: tuple[Part, ...],
    protection: Protection,
) -> _Written:
    table = manifest.target.table
    merged, seconds = list[Merged](), 0.0
    for part in parts:
        days = part.days
        chunk = compute_days(platform, manifest, transform, days, part.frames, protection)
        set_rows_aside(platform, manifest, days, chunk.computed, protection)
        begun_at = platform.clock()
        write_chunk(
            chunk.rows,
            manifest=manifest,
            days=days,
            partition_column=platform.catalog.tables[table].partition_column,
            staging=platform.warehouse.staging_path(table, manifest.run_id),
            has_small_days=rows_read(manifest, days) <= _SMALL_DAY_ROWS * len(days),
        )
        seconds += (platform.clock() - begun_at).total_seconds()
        merged += [chunk.merged] if chunk.merged is not None else []
    return _Written(merged=tuple(merged), seconds=seconds)


def _measure(
    platform: Platform,
    start_spark: StartSpark,
    manifest: Manifest,
    parts: tuple[Part, ...],
    protection: Protection,
) -> tuple[PartitionMeasurement, ...]:
    return tuple(
        measured
        for part in parts
        for measured in measure_chunk(
            platform, start_spark(), manifest, part.days, part.frames, protection
        )
    )


def _finish(
    platform: Platform,
    manifest: Manifest,
    claim: ClaimedChunk,
    computed: tuple[PartitionMeasurement, ...],
    written: _Written,
) -> None:
    """Every day of the chunk has its figures; what was read and written, the computed ones say."""
    left = left_figures(platform, manifest, claim.days)
    staged = tuple(sorted((*computed, *left), key=lambda measured: measured.day))
    input_count = rows_read_by_chunk(manifest, claim.days)
    output_count = sum(measured.row_count for measured in computed)
    platform.ledger.finish_chunk_staging(
        manifest.run_id,
        claim.chunk_id,
        claim.fencing_token,
        counts=ChunkCounts(
            input_count=input_count,
            output_count=output_count,
            checksum=combined_checksum(staged),
            cost_usd=cost_of_rows(manifest, input_count),
            write_seconds=written.seconds,
        ),
        measurements=staged,
        now=platform.clock(),
    )
    note(
        platform,
        "chunk_staged",
        input_records=input_count,
        output_records=output_count,
        partitions_left=len(manifest.unchanged_days & {*claim.days}) or None,
    )


def _note_measured(platform: Platform, staged: tuple[PartitionMeasurement, ...]) -> None:
    rejected = sum(sum((measured.rejected or {}).values()) for measured in staged)
    note(platform, "chunk_measured", partitions=len(staged), rejected_records=rejected)


def _judged(
    platform: Platform,
    manifest: Manifest,
    days: DayRange,
    parts: tuple[Part, ...],
    inputs: tuple[SourceMeasurement, ...],
    fencing_token: int,
    protection: Protection,
) -> StagedChunk:
    verdicts = judge_chunk(platform, manifest, days, parts, inputs, fencing_token, protection)
    return _staged(platform, manifest, days, verdicts)


def _staged(
    platform: Platform, manifest: Manifest, days: DayRange, verdicts: tuple[Verdict, ...]
) -> StagedChunk:
    return StagedChunk(
        manifest=manifest,
        days=days,
        staged=platform.ledger.measurements(manifest.run_id, days),
        verdicts=verdicts,
    )
