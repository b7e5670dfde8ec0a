"""Reads what the declared reckoning over the inputs gives, by day of output and by dimension."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date
from typing import Any

import pyarrow as arrow
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.domain.measurements import Figure, SourceMeasurement
from backfill_platform.validator.dimensions import DIMENSION, dimension
from backfill_platform.validator.figures import exact, refuse_inexact
from backfill_platform.validator.measure_plan import MeasurePlan

Row = dict[str, Any]

_FIELD = "reconciliation.from_inputs"


def measure_source(totals: DataFrame, plan: MeasurePlan) -> tuple[SourceMeasurement, ...]:
    """The figures of a day are the sums of its parts."""
    names = [measure.name for measure in plan.reconciled]
    by = plan.reconciled[0].by if plan.reconciled else ()
    found = _counted(totals, plan, by, names)
    for name in names:
        refuse_inexact(plan.table, _FIELD, name, found.schema.field(name).type)
    rows: dict[date, list[Row]] = defaultdict(list)
    for row in found.to_pylist():
        rows[row["day"]].append(row)
    return tuple(
        SourceMeasurement(
            day=day,
            measures={name: _sum(rows[day], name) for name in names},
            by_dimension={name: _parts(rows[day], name) for name in names} if by else {},
        )
        for day in sorted(rows)
    )


def _counted(
    totals: DataFrame, plan: MeasurePlan, by: tuple[str, ...], names: list[str]
) -> arrow.Table:
    day, value = F.col(plan.partition_column).alias("day"), dimension(by).alias(DIMENSION)
    try:
        return totals.select(day, value, *names).toArrow()
    except AnalysisException:  # a column is missing, or else the reckoning itself is at fault
        _refuse_missing(totals, plan, (plan.partition_column, *by, *names))
        raise


def _refuse_missing(totals: DataFrame, plan: MeasurePlan, wanted: Iterable[str]) -> None:
    missing = [name for name in wanted if name not in totals.columns]
    if missing:
        raise DeclarationInvalid(
            subject=plan.table,
            field=_FIELD,
            problem=(
                f"returns no column {', '.join(missing)}; return one row per day"
                f"{' and value of `by`' if plan.reconciled[0].by else ''}, with a column for each "
                "measure of `from_output`"
            ),
        )


def _sum(rows: Iterable[Row], name: str) -> Figure:
    return sum((exact(row[name]) for row in rows), 0)


def _parts(rows: Iterable[Row], name: str) -> dict[str, Figure]:
    parts: dict[str, Figure] = defaultdict(int)
    for row in rows:
        parts[row[DIMENSION]] += exact(row[name])
    return dict(parts)
