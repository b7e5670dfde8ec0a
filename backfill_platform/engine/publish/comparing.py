"""What a run would change, before it is published: staged rows against the accepted ones."""

from collections import defaultdict
from dataclasses import dataclass

from pyspark.sql import SparkSession

from backfill_platform.domain.changes import ChangeCount
from backfill_platform.domain.errors import PrivacyRefused
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.tables import TableSpec
from backfill_platform.engine.carry_out.measuring import staged_rows
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.comparisons import record_comparison, staged_chunks
from backfill_platform.governance.privacy import private_columns
from backfill_platform.lakehouse.reading import in_columns_of, read_latest, read_pinned
from backfill_platform.validator.diff import count_changes


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison:
    days: PartitionSet
    changes: tuple[ChangeCount, ...]  # by value of the dimension, over all these days
    is_recorded: bool  # not of a run that is published already


def compare_run(
    platform: Platform, spark: SparkSession, run_id: RunId, *, dimension: str
) -> RunComparison:
    """All that is staged of a run, range by range: what lies between two is not the run's."""
    manifest, chunks = load_manifest(platform, run_id), staged_chunks(platform, run_id)
    _refuse_private(platform.catalog.tables[manifest.target.table], dimension)
    days = PartitionSet.of_days(day for chunk in chunks for day in chunk.days)
    found: defaultdict[str, list[ChangeCount]] = defaultdict(list)
    for part in days.ranges:
        for change in compare_with_base(platform, spark, run_id, part, dimension=dimension):
            found[change.value].append(change)
    changes = tuple(_sum(value, counts) for value, counts in sorted(found.items()))
    is_recorded = record_comparison(platform, manifest, chunks, changes, dimension=dimension)
    return RunComparison(days=days, changes=changes, is_recorded=is_recorded)


def _refuse_private(spec: TableSpec, dimension: str) -> None:
    """The figures stay in the evidence, and each names a value of what they are counted by."""
    if dimension in private_columns(spec):
        raise PrivacyRefused(
            f"{dimension} of {spec.full_name} is private, and a comparison by it would keep its "
            f"values in the evidence; compare by another column, such as {spec.partition_column}"
        )


def compare_with_base(
    platform: Platform, spark: SparkSession, run_id: RunId, days: DayRange, *, dimension: str
) -> tuple[ChangeCount, ...]:
    """Against the version that the run was planned on, so that it can be repeated later."""
    manifest = load_manifest(platform, run_id)
    spec = platform.catalog.tables[manifest.target.table]
    contract = platform.catalog.contracts[spec.full_name]
    target = platform.warehouse.table_path(spec.full_name)
    base_version = manifest.target.base_version
    accepted = (
        read_latest(spark, target, spec.partition_column, days).limit(0)
        if base_version is None
        else read_pinned(spark, target, base_version, spec.partition_column, days)
    )
    staged = staged_rows(platform, spark, manifest, days)
    return count_changes(
        in_columns_of(accepted, staged),
        staged,
        keys=spec.keys,
        columns=contract.column_names,
        dimension=dimension,
    )


def _sum(value: str, counts: list[ChangeCount]) -> ChangeCount:
    return ChangeCount(
        value=value,
        added=sum(one.added for one in counts),
        removed=sum(one.removed for one in counts),
        changed=sum(one.changed for one in counts),
        unchanged=sum(one.unchanged for one in counts),
    )
