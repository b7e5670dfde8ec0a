"""Days of the platform as Dagster's daily partitions, and back."""

from datetime import date

import dagster as dg

from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.tables import TableSpec


def daily_partitions(spec: TableSpec) -> dg.DailyPartitionsDefinition:
    return dg.DailyPartitionsDefinition(start_date=spec.start.isoformat())


def step_days(context: dg.OpExecutionContext | dg.AssetExecutionContext) -> DayRange:
    """The contiguous days that this Dagster run is about: one chunk."""
    keys = context.partition_key_range
    return DayRange.closed(date.fromisoformat(keys.start), date.fromisoformat(keys.end))
