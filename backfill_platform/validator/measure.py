"""All figures of a staged chunk in one Spark action, whatever a table declares; repeated keys are
taken from `repetitions_in_files` where that could count them.

It is a union of aggregations by day. The first takes the content, what each row shows by itself and
every measure that adds up; it has a row for each day and for each value of the columns by which
those measures are told apart. What has to be counted over other groups of rows stands beside it in
aggregations of its own, over the columns that it needs. It only counts; `gates` decides what the
numbers mean. Nothing runs once per partition, nor a second time, unless keys are repeated or a
check of people's own does not hold.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import reduce
from math import prod
from typing import Any

import pyarrow as arrow
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.measurements import Figure, PartitionMeasurement
from backfill_platform.domain.quality import Measure
from backfill_platform.validator.content import (
    HASH_XOR,
    ROW_COUNT,
    content_columns,
    read_checksum,
)
from backfill_platform.validator.dimensions import dimension, dimensions_of, known_values
from backfill_platform.validator.figures import adds_up, exact, refuse_inexact
from backfill_platform.validator.measure_plan import MeasurePlan
from backfill_platform.validator.privacy import count_private_rows, with_listed_subjects
from backfill_platform.validator.relations import Related, count_orphans, with_relations
from backfill_platform.validator.repetitions import (
    KEYS,
    Repetitions,
    repeated_hashes,
    told_apart_by,
)
from backfill_platform.validator.row_flags import (
    CHECKS,
    INSTANTS,
    NULLS,
    ORPHANS,
    WITHOUT_LINEAGE,
    count_flags,
    count_values,
    in_short_aggregations,
)
from backfill_platform.validator.second_look import asked_of_pandera, counted_again

_MEASURES, _PRIVATE = "measures__", "private__"
_DAY, _PART, _DIMENSION = "day", "part__", "dimension__"
_NOTHING_COUNTED: Repetitions = {}
_MOST_GROUPS = 10_000  # of a day

Columns = Mapping[str, Column]
Values = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One aggregation: a row for each day, or for each day and value of its dimensions."""

    rows: DataFrame
    names: tuple[str, ...]  # of its columns, besides the day
    measures: tuple[Measure, ...] = ()
    dimensions: tuple[tuple[str, ...], ...] = ()

    @property
    def by_dimension(self) -> tuple[Measure, ...]:
        return tuple(one for one in self.measures if one.by in self.dimensions)

    @property
    def by_day(self) -> Iterator[str]:
        """The columns that say something of all rows of a group, whatever its dimensions."""
        told = {_MEASURES + one.name for one in self.by_dimension}
        return (one for one in self.names if one not in told and not one.startswith(_DIMENSION))


def measure_staged(
    rows: DataFrame,
    plan: MeasurePlan,
    related: Sequence[Related] = (),
    repeated: Repetitions = _NOTHING_COUNTED,
) -> tuple[PartitionMeasurement, ...]:
    """`repeated` has been counted elsewhere and is not counted again."""
    parts = tuple(_parts(rows, plan, related, repeated))
    counted = _united(parts).toArrow()
    _refuse_inexact(counted.schema, plan)
    found: dict[date, list[Values]] = defaultdict(list)
    for row in counted.to_pylist():
        found[row[_DAY]].append(row)
    measured = tuple(
        _read(day, found[day], parts, plan, {name: repeated[name].get(day, 0) for name in repeated})
        for day in sorted(found)
    )
    return asked_of_pandera(rows, plan, counted_again(rows, plan, measured))


def check_measures(rows: DataFrame, plan: MeasurePlan) -> None:
    """Refuses before anything is computed what would be refused when all is. `rows` are none, and
    so nothing is read."""
    if plan.measures:
        figures = rows.groupBy(plan.partition_column).agg(*_aliased(_figures(plan.measures)))
        _refuse_inexact(figures.toArrow().schema, plan)


def _parts(
    rows: DataFrame, plan: MeasurePlan, related: Sequence[Related], repeated: Repetitions
) -> Iterator[_Part]:
    first, *others = in_short_aggregations(count_flags(plan, rows.columns, related))
    wide = [*_wide(plan, related)]
    columns = {**content_columns(plan.contract), **first, **_figures(wide)}
    yield _part(rows, plan, columns, wide, dimensions_of(wide))
    for other in others:
        yield _part(rows, plan, other)
    if values := count_values(plan.contract):
        yield _part(rows, plan, values)
    yield from _narrow(rows, plan, [one for one in plan.measures if one not in wide])
    yield from _repetitions(rows, plan, repeated)
    if private := _named(_PRIVATE, count_private_rows(plan.protection)):
        yield _part(with_listed_subjects(rows, plan.protection), plan, private)
    if joined := [one for one in related if not one.is_listed]:
        flagged = with_relations(rows, joined, plan.partition_column)
        yield _part(flagged, plan, _named(ORPHANS, count_orphans(joined)))


def _part(
    rows: DataFrame,
    plan: MeasurePlan,
    columns: Columns,
    measures: Iterable[Measure] = (),
    dimensions: Sequence[tuple[str, ...]] = (),
) -> _Part:
    texts = {f"{_DIMENSION}{at}": dimension(by) for at, by in enumerate(dimensions)}
    day = F.col(plan.partition_column).alias(_DAY)
    return _Part(
        rows=rows.groupBy(day, *_aliased(texts)).agg(*_aliased(columns)),
        names=(*texts, *columns),
        measures=tuple(measures),
        dimensions=tuple(dimensions),
    )


def _wide(plan: MeasurePlan, related: Sequence[Related]) -> Iterator[Measure]:
    """What the first aggregation can take along. It has a row for each value of a column together
    with each value of the others, so it is told apart by columns alone whose values are known and
    few."""
    sizes, groups, seen = known_values(plan.contract, related), 1, set[str]()
    for one in plan.measures:
        new = set(one.by) - seen
        if adds_up(one.expression) and new <= sizes.keys():
            grown = groups * prod(sizes[column] for column in new)
            if grown <= _MOST_GROUPS:
                groups, seen = grown, seen | new
                yield one


def _narrow(rows: DataFrame, plan: MeasurePlan, measures: Sequence[Measure]) -> Iterator[_Part]:
    """Apart, for they may count what is distinct: Spark would carry all else through that."""
    whole = [one for one in measures if not _is_sum_of_parts(one, plan)]
    if whole:
        yield _part(rows, plan, _figures(whole), whole)
    for by in dimensions_of(measures):
        own = [one for one in measures if one.by == by]
        yield _part(rows, plan, _figures(own), own, [by])


def _figures(measures: Iterable[Measure]) -> Columns:
    return {_MEASURES + one.name: F.expr(one.expression) for one in measures}


def _is_sum_of_parts(measure: Measure, plan: MeasurePlan) -> bool:
    return bool(measure.by) and (measure in plan.reconciled or adds_up(measure.expression))


def _repetitions(rows: DataFrame, plan: MeasurePlan, repeated: Repetitions) -> Iterator[_Part]:
    for name, columns in told_apart_by(plan).items():
        if name not in repeated:
            counted = repeated_hashes(rows, plan.partition_column, columns, name)
            yield _Part(rows=counted, names=(name,))


def _named(prefix: str, counted: Columns) -> Columns:
    return {prefix + name: column for name, column in counted.items()}


def _aliased(columns: Columns) -> list[Column]:
    return [column.alias(name) for name, column in columns.items()]


def _refuse_inexact(schema: arrow.Schema, plan: MeasurePlan) -> None:
    for measure in plan.measures:
        field_name = (
            "reconciliation.from_output" if measure in plan.reconciled else "quality.measures"
        )
        found = schema.field(_MEASURES + measure.name).type
        refuse_inexact(plan.table, field_name, measure.name, found)


def _united(parts: Sequence[_Part]) -> DataFrame:
    """By position: to unite by name, Spark would be asked for the columns of every part."""
    names = dict.fromkeys(name for part in parts for name in part.names)
    return reduce(DataFrame.union, (_aligned(part, at, names) for at, part in enumerate(parts)))


def _aligned(part: _Part, at: int, names: Iterable[str]) -> DataFrame:
    own = (F.col(f"`{name}`") if name in part.names else F.lit(None).alias(name) for name in names)
    return part.rows.select(_DAY, F.lit(at).alias(_PART), *own)


def _read(
    day: date,
    rows: Iterable[Values],
    parts: Sequence[_Part],
    plan: MeasurePlan,
    repeated: Mapping[str, int],
) -> PartitionMeasurement:
    values: Values = dict(repeated)
    by_dimension: dict[str, dict[str, Figure]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        part = parts[row[_PART]]
        for name in part.by_day:
            values[name] = _together(name, values.get(name), row[name])
        for measure in part.by_dimension:
            value = row[f"{_DIMENSION}{part.dimensions.index(measure.by)}"]
            by_dimension[measure.name][value] += exact(row[_MEASURES + measure.name])
    return PartitionMeasurement(
        day=day,
        row_count=values[ROW_COUNT],
        checksum=read_checksum(values),
        duplicate_keys=values[KEYS],
        null_counts=_with_prefix(values, NULLS),
        check_failures=_with_prefix(values, CHECKS),
        measures=_totals(plan, values, by_dimension),
        private_rows=_with_prefix(values, _PRIVATE),
        by_dimension={name: dict(figures) for name, figures in by_dimension.items()},
        rows_without_lineage=values.get(WITHOUT_LINEAGE),
        orphans=_with_prefix(values, ORPHANS),
        misplaced_instants=_with_prefix(values, INSTANTS),
    )


def _together(name: str, one: Any, other: Any) -> Any:
    """Of two groups of a day's rows; what does not add up is told of all rows at once."""
    if one is None or other is None:
        return other if one is None else one
    return one ^ other if name == HASH_XOR else one + other


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
