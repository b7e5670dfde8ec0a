"""All figures of a staged chunk in one Spark action, whatever a table declares.

It is a union of aggregations by day, each over the columns that it needs: a wide one for the
content and what each row shows by itself, and narrow ones for what would slow that down. It only
counts; `gates` decides what the numbers mean. Nothing runs once per partition, nor a second time,
unless keys are repeated or a check of people's own does not hold.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from backfill_platform.domain.measurements import Figure, PartitionMeasurement
from backfill_platform.domain.quality import Measure
from backfill_platform.validator.content import ROW_COUNT, content_columns, read_checksum
from backfill_platform.validator.dimensions import DIMENSION, by_columns, dimension
from backfill_platform.validator.figures import exact, refuse_inexact
from backfill_platform.validator.measure_plan import MeasurePlan
from backfill_platform.validator.privacy import count_private_rows, with_listed_subjects
from backfill_platform.validator.relations import Related, count_orphans, with_relations
from backfill_platform.validator.repetitions import repeated_hashes
from backfill_platform.validator.row_flags import (
    CHECKS,
    INSTANTS,
    NULLS,
    WITHOUT_LINEAGE,
    count_flags,
    in_short_aggregations,
)
from backfill_platform.validator.second_look import asked_of_pandera, counted_again

_MEASURES, _PRIVATE, _ORPHANS = "measures__", "private__", "orphans__"
_DAY, _KEYS, _PART = "day", "duplicate_keys", "part__"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One aggregation: a row for each day, or for each day and value of a dimension."""

    rows: DataFrame
    measures: tuple[Measure, ...] = ()
    has_dimension: bool = False


def measure_staged(
    rows: DataFrame, plan: MeasurePlan, related: Sequence[Related] = ()
) -> tuple[PartitionMeasurement, ...]:
    parts = tuple(_parts(rows, plan, related))
    for part in parts:
        _refuse_inexact(part, plan)
    found: dict[date, list[Row]] = defaultdict(list)
    for row in _united(parts).collect():
        found[row[_DAY]].append(row)
    measured = tuple(_read(day, found[day], parts, plan) for day in sorted(found))
    return asked_of_pandera(rows, plan, counted_again(rows, plan, measured))


def check_measures(rows: DataFrame, plan: MeasurePlan) -> None:
    """Refuses, without an action, what would be refused when all is computed already."""
    for part in (*_measures(rows, plan), *_by_dimension(rows, plan)):
        _refuse_inexact(part, plan)


def _parts(rows: DataFrame, plan: MeasurePlan, related: Sequence[Related]) -> Iterator[_Part]:
    flags = tuple(count_flags(plan, rows.columns))
    first, *others = in_short_aggregations(flags)
    yield _by_day(rows, plan, (*content_columns(plan.contract), *first))
    for other in others:
        yield _by_day(rows, plan, other)
    yield from _measures(rows, plan)
    yield from _by_dimension(rows, plan)
    yield from _repetitions(rows, plan)
    yield from _private_rows(rows, plan)
    yield from _orphans(rows, plan, related)


def _by_day(rows: DataFrame, plan: MeasurePlan, figures: Iterable[Column]) -> _Part:
    return _Part(rows=rows.groupBy(F.col(plan.partition_column).alias(_DAY)).agg(*figures))


def _measures(rows: DataFrame, plan: MeasurePlan) -> Iterator[_Part]:
    """Apart, for they may count what is distinct: Spark would carry all else through that."""
    whole = tuple(measure for measure in plan.measures if not _is_sum_of_parts(measure, plan))
    if whole:
        by_day = rows.groupBy(F.col(plan.partition_column).alias(_DAY))
        yield _Part(rows=by_day.agg(*_figures(whole)), measures=whole)


def _by_dimension(rows: DataFrame, plan: MeasurePlan) -> Iterator[_Part]:
    for columns, measures in by_columns(plan.measures).items():
        day, value = F.col(plan.partition_column).alias(_DAY), dimension(columns).alias(DIMENSION)
        counted = rows.groupBy(day, value).agg(*_figures(measures))
        yield _Part(rows=counted, measures=tuple(measures), has_dimension=True)


def _figures(measures: Iterable[Measure]) -> list[Column]:
    return [F.expr(one.expression).alias(_MEASURES + one.name) for one in measures]


def _is_sum_of_parts(measure: Measure, plan: MeasurePlan) -> bool:
    return bool(measure.by) and measure in plan.reconciled


def _repetitions(rows: DataFrame, plan: MeasurePlan) -> Iterator[_Part]:
    yield _Part(rows=repeated_hashes(rows, plan.partition_column, plan.keys, _KEYS))
    for unique in plan.contract.uniques:
        named = CHECKS + unique.name
        yield _Part(rows=repeated_hashes(rows, plan.partition_column, unique.columns, named))


def _private_rows(rows: DataFrame, plan: MeasurePlan) -> Iterator[_Part]:
    counted = count_private_rows(plan.protection)
    if counted:
        listed = with_listed_subjects(rows, plan.protection)
        yield _by_day(listed, plan, _named(_PRIVATE, counted))


def _orphans(rows: DataFrame, plan: MeasurePlan, related: Sequence[Related]) -> Iterator[_Part]:
    if related:
        flagged = with_relations(rows, related, plan.partition_column)
        yield _by_day(flagged, plan, _named(_ORPHANS, count_orphans(related)))


def _named(prefix: str, counted: Mapping[str, Column]) -> list[Column]:
    return [column.alias(prefix + name) for name, column in counted.items()]


def _refuse_inexact(part: _Part, plan: MeasurePlan) -> None:
    for measure in part.measures:
        found = part.rows.schema[_MEASURES + measure.name].dataType
        field = "reconciliation.from_output" if measure in plan.reconciled else "quality.measures"
        refuse_inexact(plan.table, field, [(measure.name, found)])


def _united(parts: Sequence[_Part]) -> DataFrame:
    numbered = (part.rows.withColumn(_PART, F.lit(at)) for at, part in enumerate(parts))
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), numbered)


def _read(
    day: date, rows: Iterable[Row], parts: Sequence[_Part], plan: MeasurePlan
) -> PartitionMeasurement:
    values: dict[str, Any] = {}
    by_dimension: dict[str, dict[str, Figure]] = defaultdict(dict)
    for row in rows:
        part = parts[row[_PART]]
        if part.has_dimension:
            for measure in part.measures:
                figure = exact(row[_MEASURES + measure.name])
                by_dimension[measure.name][row[DIMENSION]] = figure
        else:
            values |= {name: value for name, value in row.asDict().items() if value is not None}
    return PartitionMeasurement(
        day=day,
        row_count=values[ROW_COUNT],
        checksum=read_checksum(values),
        duplicate_keys=values[_KEYS],
        null_counts=_with_prefix(values, NULLS),
        check_failures=_with_prefix(values, CHECKS),
        measures=_totals(plan, values, by_dimension),
        private_rows=_with_prefix(values, _PRIVATE),
        by_dimension=dict(by_dimension),
        rows_without_lineage=values.get(WITHOUT_LINEAGE),
        orphans=_with_prefix(values, _ORPHANS),
        misplaced_instants=_with_prefix(values, INSTANTS),
    )


def _totals(
    plan: MeasurePlan, values: Mapping[str, Any], parts: Mapping[str, Mapping[str, Figure]]
) -> dict[str, Figure]:
    return {
        measure.name: sum(parts[measure.name].values())
        if _is_sum_of_parts(measure, plan)
        else exact(values.get(_MEASURES + measure.name))
        for measure in plan.measures
    }


def _with_prefix(values: Mapping[str, Any], prefix: str) -> dict[str, int]:
    return {
        name.removeprefix(prefix): int(value)
        for name, value in values.items()
        if name.startswith(prefix)
    }
