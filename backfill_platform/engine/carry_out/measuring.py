"""Takes the figures of what a chunk has staged: from what was written, not what was meant."""

from pyspark.sql import DataFrame, SparkSession

from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.privacy import Protection
from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.reading import read_latest
from backfill_platform.validator.measure import measure_staged


def measure_chunk(
    platform: Platform,
    spark: SparkSession,
    manifest: Manifest,
    days: DayRange,
    protection: Protection,
) -> tuple[PartitionMeasurement, ...]:
    spec = platform.catalog.tables[manifest.target.table]
    return measure_staged(
        staged_rows(platform, spark, manifest, days),
        contract=platform.catalog.contracts[spec.full_name],
        partition_column=spec.partition_column,
        keys=spec.keys,
        measures=spec.reconciliation.from_output,
        protection=protection,
    )


def staged_rows(
    platform: Platform, spark: SparkSession, manifest: Manifest, days: DayRange
) -> DataFrame:
    table = manifest.target.table
    return read_latest(
        spark,
        platform.warehouse.staging_path(table, manifest.run_id),
        platform.catalog.tables[table].partition_column,
        days,
    )
