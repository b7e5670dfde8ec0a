"""Which rows a comparison looks at: what consumers see, and what they would see.

Only partitions whose content is not the accepted one are read on both sides; the accepted side at
the version that the run was planned on, so that a comparison can be repeated. Consumers of a keyed
merge do not see rows that say that they were deleted, so such rows are no part of either side.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.tables import TableSpec
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.cutoff import days_equal_to_accepted
from backfill_platform.lakehouse.delta_tables import read_table_state
from backfill_platform.lakehouse.latest import latest_frame
from backfill_platform.lakehouse.reading import in_columns_of, on_days
from backfill_platform.validator.diff.comparing import Sides


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedDays:
    every: PartitionSet
    changed: PartitionSet | None
    equal: PartitionSet | None


def tell_days_apart(platform: Platform, manifest: Manifest, every: PartitionSet) -> ComparedDays:
    equal = _equal_days(platform, manifest, every)
    return ComparedDays(
        every=every,
        changed=_some(day for day in every if day not in equal),
        equal=_some(equal),
    )


def read_sides(
    platform: Platform, spark: SparkSession, manifest: Manifest, days: ComparedDays
) -> Sides:
    """Both in the columns of now."""
    spec = platform.catalog.tables[manifest.target.table]
    columns = platform.catalog.contracts[spec.full_name].column_names
    staging = platform.warehouse.staging_path(spec.full_name, manifest.run_id)
    staged = spark.read.format("delta").load(str(staging)).select(*columns)
    accepted = _accepted(platform, spark, manifest, days.changed)
    before = staged.where(F.lit(False)) if accepted is None else in_columns_of(accepted, staged)
    changed = on_days(spec.partition_column, days.changed)
    return Sides(
        before=_seen(before.where(changed), spec),
        after=_seen(staged.where(changed), spec),
        equal=_seen(_equal_rows(platform, spark, manifest, days.equal, staged), spec),
    )


def _equal_rows(
    platform: Platform,
    spark: SparkSession,
    manifest: Manifest,
    days: PartitionSet | None,
    staged: DataFrame,
) -> DataFrame:
    """Of days that the run left as they were nothing is staged: their rows are those accepted."""
    column = platform.catalog.tables[manifest.target.table].partition_column
    computed = staged.where(on_days(column, days))
    left = _some(day for day in days or () if day in manifest.unchanged_days)
    accepted = _accepted(platform, spark, manifest, left) if left else None
    if accepted is None:
        return computed
    return computed.union(in_columns_of(accepted, staged).where(on_days(column, left)))


def _equal_days(platform: Platform, manifest: Manifest, days: PartitionSet) -> frozenset[date]:
    """Whose rows are those of before, as the ledger knows without a look at them. Only while the
    table holds there what the run was planned on: afterwards it may equal the run itself."""
    state = read_table_state(platform.warehouse.table_path(manifest.target.table), days)
    held = {} if state is None else state.fingerprints
    unmoved = _some(day for day in days if held.get(day) == manifest.target.base_of(day))
    if unmoved is None:
        return frozenset()
    return frozenset(days_equal_to_accepted(platform, manifest, unmoved))


def _accepted(
    platform: Platform, spark: SparkSession, manifest: Manifest, days: PartitionSet | None
) -> DataFrame | None:
    target, version = manifest.target, manifest.target.base_version
    if version is None:
        return None
    return latest_frame(
        spark, platform.warehouse.table_path(target.table), version=version, days=days
    )


def _seen(rows: DataFrame, spec: TableSpec) -> DataFrame:
    merge = spec.merge
    if merge is None or merge.operation_column is None:
        return rows
    return rows.where(~F.col(merge.operation_column).eqNullSafe(merge.delete_operation))


def _some(days: Iterable[date]) -> PartitionSet | None:
    named = tuple(days)
    return PartitionSet.of_days(named) if named else None
