"""What a run would change, before it is published: staged rows against the accepted ones."""

from pyspark.sql import SparkSession

from backfill_platform.domain.changes import ChangeCount
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.carry_out.staging import staged_rows
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.reading import read_latest, read_pinned
from backfill_platform.validator.diff import count_changes


def compare_with_base(
    platform: Platform, spark: SparkSession, run_id: RunId, days: DayRange, *, dimension: str
) -> tuple[ChangeCount, ...]:
    """Against the version that the run was planned on, so that it can be repeated later."""
    manifest = load_manifest(platform, run_id)
    spec = platform.catalog.tables[manifest.target.table]
    contract = platform.catalog.contracts[spec.full_name]
    target = platform.warehouse.table_path(spec.full_name)
    base_version = manifest.target.base_version
    return count_changes(
        read_latest(spark, target, spec.partition_column, days).limit(0)
        if base_version is None
        else read_pinned(spark, target, base_version, spec.partition_column, days),
        staged_rows(platform, spark, manifest, days),
        keys=spec.keys,
        columns=contract.column_names,
        dimension=dimension,
    )
