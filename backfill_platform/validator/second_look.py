"""What the one action cannot say for certain, or not at all; mostly there is nothing of it.

Values that are repeated by their hash are counted by themselves, and checks that people wrote are
run by pandera.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date

from pyspark.sql import DataFrame

from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.validator.by_pandera import days_that_fail
from backfill_platform.validator.measure_plan import MeasurePlan
from backfill_platform.validator.repetitions import repeated_values


def counted_again(
    rows: DataFrame, plan: MeasurePlan, measured: tuple[PartitionMeasurement, ...]
) -> tuple[PartitionMeasurement, ...]:
    """What is repeated by its hash, by the values themselves; mostly nothing is."""
    column = plan.partition_column
    doubtful = [one.day for one in measured if one.duplicate_keys]
    if doubtful:
        keys = repeated_values(rows, column, plan.keys, doubtful)
        measured = tuple(
            replace(one, duplicate_keys=keys.get(one.day, one.duplicate_keys)) for one in measured
        )
    for unique in plan.contract.uniques:
        doubtful = [one.day for one in measured if one.check_failures[unique.name]]
        if doubtful:
            found = repeated_values(rows, column, unique.columns, doubtful)
            measured = tuple(_with_failures(one, unique.name, found) for one in measured)
    return measured


def asked_of_pandera(
    rows: DataFrame, plan: MeasurePlan, measured: tuple[PartitionMeasurement, ...]
) -> tuple[PartitionMeasurement, ...]:
    days, business = [one.day for one in measured], rows.select(*plan.contract.column_names)
    for check in plan.contract.by_pandera:
        failing = days_that_fail(business, plan.partition_column, check, days)
        counts = {day: int(day in failing) for day in days}
        measured = tuple(_with_failures(one, check.name, counts) for one in measured)
    return measured


def _with_failures(
    measured: PartitionMeasurement, name: str, counts: Mapping[date, int]
) -> PartitionMeasurement:
    if measured.day not in counts:
        return measured
    failures = {**measured.check_failures, name: counts[measured.day]}
    return replace(measured, check_failures=failures)
