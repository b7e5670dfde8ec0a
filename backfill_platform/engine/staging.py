"""Computes, writes and measures one chunk of a run. Doing it twice equals doing it once."""

from dataclasses import dataclass

from pyspark.sql import SparkSession

from backfill_platform.domain.errors import ChunkRefused
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import PartitionMeasurement, SourceMeasurement
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.runs import ChunkBusy, ChunkDone, ClaimedChunk
from backfill_platform.domain.tables import TableSpec
from backfill_platform.domain.transforms import Frames, TransformContext
from backfill_platform.engine.deployment import pinned_transform
from backfill_platform.engine.frames import chunk_frames
from backfill_platform.engine.planning import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.records import keep_record
from backfill_platform.executor.staging import chunk_context, compute_chunk, write_chunk
from backfill_platform.lakehouse.reading import read_latest
from backfill_platform.validator.measure import measure_source, measure_staged

LEASE_SECONDS = 1800


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedChunk:
    manifest: Manifest
    days: DayRange
    staged: tuple[PartitionMeasurement, ...]
    source: tuple[SourceMeasurement, ...]

    @property
    def row_count(self) -> int:
        return sum(measured.row_count for measured in self.staged)


def stage_chunk(
    platform: Platform, spark: SparkSession, run_id: RunId, days: DayRange
) -> StagedChunk:
    manifest = load_manifest(platform, run_id)
    if not manifest.target.partitions.covers(days):
        raise ChunkRefused(
            f"{days} is not within the partitions of run {run_id} ({manifest.target.partitions}); "
            "plan a new run for it"
        )
    transform = pinned_transform(platform, manifest)
    claimed = platform.ledger.claim_chunk(
        run_id,
        days,
        worker=platform.worker,
        lease_seconds=LEASE_SECONDS,
        now=platform.clock(),
    )
    match claimed:
        case ChunkBusy():
            raise ChunkRefused(f"{days} of run {run_id} is not free: {claimed.reason}")
        case ChunkDone():
            return _recall(platform, manifest, days)
        case ClaimedChunk():
            pass
    _begin_staging(platform, manifest)
    try:
        frames = chunk_frames(platform, spark, manifest, days)
        staged = _compute(platform, spark, manifest, days, frames, transform.function)
        source = _measure_source(platform, manifest, days, frames)
    except BaseException as failure:
        # A chunk that failed may be claimed again at once, without waiting for its lease.
        platform.ledger.fail_chunk(
            run_id,
            claimed.chunk_id,
            claimed.fencing_token,
            error=f"{type(failure).__name__}: {failure}"[:2000],
            now=platform.clock(),
        )
        raise
    chunk = StagedChunk(manifest=manifest, days=days, staged=staged, source=source)
    _finish(platform, chunk, claimed)
    return chunk
