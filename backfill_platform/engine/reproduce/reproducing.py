"""Computes a run again from its manifest, and compares each day with what was measured then.

Invariant: neither staging nor target nor ledger is written to; only the run's evidence says who has
looked and what was found (test_nothing_is_written_but_the_evidence). Whoever is interrupted has
changed nothing. It is held to the manifest as a start is: what has moved is refused, with its name.
"""

from datetime import date

from pyspark.sql import SparkSession

from backfill_platform.domain.errors import ManifestDrifted
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import Content, content_by_day
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.plain import to_plain
from backfill_platform.domain.privacy import Protection
from backfill_platform.domain.reproductions import Attempt, DayDifference, Reproduction, Way
from backfill_platform.domain.transforms import TransformVersion
from backfill_platform.engine.carry_out.boundaries import refuse_rollback
from backfill_platform.engine.carry_out.computing import compute_days
from backfill_platform.engine.carry_out.deployment import pinned_transform
from backfill_platform.engine.carry_out.frames import chunk_frames
from backfill_platform.engine.deletions import run_protection
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.records import keep_record
from backfill_platform.engine.reproduce.inputs import lost_inputs
from backfill_platform.engine.reproduce.ways import choose_ways, measured_chunks
from backfill_platform.executor.other_ways import (
    shuffle_partitions,
    shuffled_into,
    spread_inputs,
)
from backfill_platform.executor.protecting import protect_frames
from backfill_platform.validator.content import measure_content


def refuse_irreproducible(platform: Platform, run_id: RunId, days: PartitionSet | None) -> None:
    """All that can be said before Spark is started."""
    manifest = load_manifest(platform, run_id)
    refuse_rollback(manifest)
    measured_chunks(platform, manifest, days)
    pinned_transform(platform, manifest)
    moved = lost_inputs(platform, manifest)
    if moved:
        raise ManifestDrifted(run_id, moved)


def reproduce_run(
    platform: Platform,
    spark: SparkSession,
    run_id: RunId,
    *,
    by: str,
    days: PartitionSet | None = None,
    chunk_days: int | None = None,
    partitions: int | None = None,
) -> Reproduction:
    """Of a run in any state, also one that was superseded or whose files were retired, as long as
    its inputs can be read."""
    refuse_irreproducible(platform, run_id, days)
    manifest = load_manifest(platform, run_id)
    chunks = measured_chunks(platform, manifest, days)
    ways = choose_ways(
        manifest,
        chunks,
        usual_partitions=shuffle_partitions(spark),
        chunk_days=chunk_days,
        partitions=partitions,
    )
    asked = PartitionSet.of_days(day for chunk in chunks for day in chunk)
    expected = content_by_day(platform.ledger.measurements(run_id, asked), asked)
    found = Reproduction(
        run_id=run_id,
        table=manifest.target.table,
        days=asked,
        row_count=sum(content.row_count for content in expected.values()),
        attempts=tuple(_attempt(platform, spark, manifest, way, expected) for way in ways),
    )
    _keep(platform, found, by)
    return found


def _attempt(
    platform: Platform,
    spark: SparkSession,
    manifest: Manifest,
    way: Way,
    expected: dict[date, Content],
) -> Attempt:
    transform, protection = pinned_transform(platform, manifest), run_protection(platform, manifest)
    found = content_by_day((), expected)
    with shuffled_into(spark, way.shuffle_partitions):
        for days in way.chunks:
            found |= _contents(platform, spark, manifest, transform, days, way, protection)
    return Attempt(
        way=way,
        row_count=sum(content.row_count for content in found.values()),
        differing=tuple(
            DayDifference(day=day, expected=then, found=found[day])
            for day, then in expected.items()
            if found[day] != then
        ),
    )


def _contents(
    platform: Platform,
    spark: SparkSession,
    manifest: Manifest,
    transform: TransformVersion,
    days: DayRange,
    way: Way,
    protection: Protection,
) -> dict[date, Content]:
    frames = protect_frames(chunk_frames(platform, spark, manifest, days), protection)
    if way.spreads_inputs and way.shuffle_partitions:
        frames = spread_inputs(frames, way.shuffle_partitions)
    computed = compute_days(platform, manifest, transform, days, frames, protection)
    table = manifest.target.table
    return measure_content(
        computed.rows,
        platform.catalog.contracts[table],
        platform.catalog.tables[table].partition_column,
    )


def _keep(platform: Platform, found: Reproduction, by: str) -> None:
    now = platform.clock()
    body = {"by": by, "is_equal": found.is_equal, **to_plain(found)}
    key = f"reproduction:{now.isoformat()}"
    keep_record(platform, found.run_id, "reproduction", key=key, body=body)
