"""Keeps failing rows of a chunk before its verdicts are stored: who sees the ones sees the others.

Where every row is as it should be it costs a look at the table's log, and no Spark.
"""

from collections.abc import Iterable

from pyspark.sql import DataFrame, SparkSession

from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.privacy import Protection
from backfill_platform.domain.transforms import Frames
from backfill_platform.domain.verdicts import Verdict
from backfill_platform.engine.carry_out.measuring import measure_plan, related_keys, staged_rows
from backfill_platform.engine.platform import Platform
from backfill_platform.governance.privacy import private_columns
from backfill_platform.lakehouse.delta_tables import open_table
from backfill_platform.lakehouse.reading import read_own
from backfill_platform.validator.blame import Judged
from backfill_platform.validator.failing import replace_failing, what_to_look_for
from backfill_platform.validator.samples import SampledRows, sample_failing


def keep_failing_rows(
    platform: Platform,
    manifest: Manifest,
    days: DayRange,
    frames: Frames,
    measured: Iterable[PartitionMeasurement],
    verdicts: Iterable[Verdict],
    protection: Protection,
) -> None:
    """A chunk that dies after this is judged again, and then keeps the same rows
    (test_a_chunk_that_is_judged_again_keeps_the_same_failing_rows)."""
    sought = what_to_look_for(verdicts, measured)
    rows = ()
    if sought:
        spark = next(iter(frames.inputs.values())).sparkSession
        judged = Judged(
            plan=measure_plan(platform, manifest, protection),
            related=related_keys(platform, spark, manifest, frames),
            private=private_columns(platform.catalog.tables[manifest.target.table]),
        )
        rows = sample_failing(_rows(platform, spark, manifest, days), judged, sought)
    path = platform.warehouse.failing_path(manifest.target.table, manifest.run_id)
    replace_failing(path, days, rows)


def _rows(
    platform: Platform, spark: SparkSession, manifest: Manifest, days: DayRange
) -> SampledRows:
    return SampledRows(
        staged=staged_rows(platform, spark, manifest, days),
        rejects=_rejects(platform, spark, manifest, days),
    )


def _rejects(
    platform: Platform, spark: SparkSession, manifest: Manifest, days: DayRange
) -> DataFrame | None:
    table = manifest.target.table
    path = platform.warehouse.rejects_path(table, manifest.run_id)
    if open_table(path) is None:
        return None
    return read_own(spark, path, days)
