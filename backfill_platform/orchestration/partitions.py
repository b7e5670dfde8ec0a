"""Days of the platform as Dagster's daily partitions, and back."""

from collections.abc import Iterable
from datetime import date

import dagster as dg

from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.tables import Input, TableSpec


def daily_partitions(spec: TableSpec) -> dg.DailyPartitionsDefinition:
    return dg.DailyPartitionsDefinition(start_date=spec.start.isoformat())


def step_days(context: dg.OpExecutionContext | dg.AssetExecutionContext) -> DayRange:
    """The contiguous days that this Dagster run is about: one chunk."""
    keys = context.partition_key_range
    return DayRange.closed(date.fromisoformat(keys.start), date.fromisoformat(keys.end))


def parse_days(text: str) -> PartitionSet:
    """`2025-01-01..2025-01-31, 2025-03-01`: the form in which a set of days is printed."""
    days: list[date] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("..")
        days.extend(DayRange.closed(date.fromisoformat(first), date.fromisoformat(last or first)))
    return PartitionSet.of_days(days)


def partition_keys(days: Iterable[date]) -> list[str]:
    return [day.isoformat() for day in days]


def input_mapping(used: Input) -> dg.PartitionMapping:
    """Warm-up and late days are upstream partitions too: a backfill of both computes them first."""
    return dg.TimeWindowPartitionMapping(
        start_offset=-used.warm_up_days,
        end_offset=used.late_days,
        allow_nonexistent_upstream_partitions=True,
    )
