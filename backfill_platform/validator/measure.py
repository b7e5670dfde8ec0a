"""One Spark action over the staged rows of a chunk, whatever a table declares.

It only counts; `gates` decides what the numbers mean. Nothing here runs once per partition.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from backfill_platform.domain.contracts import LINEAGE_COLUMNS, Contract
from backfill_platform.domain.measurements import Figure, PartitionMeasurement
from backfill_platform.domain.quality import InstantBound, Measure
from backfill_platform.validator.checks import failing_rows
from backfill_platform.validator.dimensions import DIMENSION, by_columns, dimension
from backfill_platform.validator.figures import exact, refuse_inexact
from backfill_platform.validator.hashing import row_hash
from backfill_platform.validator.measure_plan import MeasurePlan
from backfill_platform.validator.privacy import count_private_rows, with_listed_subjects
from backfill_platform.validator.relations import Related, count_orphans, with_relations

_NULLS = "nulls__"
_CHECKS = "checks__"
_MEASURES = "measures__"
_PARTS = "parts__"
_INSTANTS = "instants__"
_PRIVATE = "private__"
_ORPHANS = "orphans__"
_DAY = "day"
_MICROSECONDS_A_DAY = 86_400_000_000


def measure_staged(
    rows: DataFrame, plan: MeasurePlan, related: Sequence[Related] = ()
) -> tuple[PartitionMeasurement, ...]:
    parts = (
        _of_each_day(rows, plan, related),
        _repeated_keys(rows, plan),
        *_by_dimension(rows, plan),
    )
    for part in parts:
        _refuse_inexact(part, plan)
    every = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)
    found: dict[date, list[Row]] = defaultdict(list)
    for row in every.collect():
        found[row[_DAY]].append(row)
    return tuple(_read(day, found[day], plan) for day in sorted(found))


def _of_each_day(rows: DataFrame, plan: MeasurePlan, related: Sequence[Related]) -> DataFrame:
    listed = with_listed_subjects(rows, plan.protection)
    return (
        with_relations(listed, related, plan.partition_column)
        .groupBy(F.col(plan.partition_column).alias(_DAY))
        .agg(
            F.count(F.lit(1)).alias("row_count"),
            *_checksum(plan.contract),
            *_lineage(rows, plan),
            *_null_counts(plan.contract),
            *_check_failures(plan.contract),
            *_misplaced(plan),
            *_measures(plan.measures, _MEASURES),
            *_private_rows(plan),
            *_orphans(related),
        )
    )


def _repeated_keys(rows: DataFrame, plan: MeasurePlan) -> DataFrame:
    """Apart from the rest, for Spark would carry all other sums through what tells keys apart."""
    return rows.groupBy(F.col(plan.partition_column).alias(_DAY)).agg(
        (F.count(F.lit(1)) - F.count_distinct(row_hash(plan.keys))).alias("duplicate_keys")
    )


def _by_dimension(rows: DataFrame, plan: MeasurePlan) -> Iterator[DataFrame]:
    for columns, measures in by_columns(plan.measures).items():
        yield rows.groupBy(
            F.col(plan.partition_column).alias(_DAY), dimension(columns).alias(DIMENSION)
        ).agg(*_measures(measures, _PARTS))


def _checksum(contract: Contract) -> Iterator[Column]:
    """Sum and exclusive or do not depend on the order of rows, files or tasks."""
    hashed = row_hash(sorted(contract.column_names))
    yield F.sum(hashed.cast("decimal(38,0)")).alias("hash_sum")
    yield F.bit_xor(hashed).alias("hash_xor")


def _lineage(rows: DataFrame, plan: MeasurePlan) -> Iterator[Column]:
    """Not measured where rows have no such columns, which is no measurement of zero."""
    required = [column.name for column in LINEAGE_COLUMNS if not column.is_nullable]
    if not set(required) <= set(rows.columns):
        return
    lacks = reduce(lambda one, other: one | other, (F.col(name).isNull() for name in required))
    if plan.written_by is not None:
        lacks = lacks | (F.col("produced_by_run_id") != plan.written_by)
    yield F.count_if(lacks).alias("rows_without_lineage")


def _null_counts(contract: Contract) -> Iterator[Column]:
    for column in contract.columns:
        if not column.is_nullable:
            yield F.count_if(F.col(column.name).isNull()).alias(_NULLS + column.name)


def _check_failures(contract: Contract) -> Iterator[Column]:
    for check in contract.checks:
        yield failing_rows(check).alias(_CHECKS + check.name)


def _misplaced(plan: MeasurePlan) -> Iterator[Column]:
    types = {column.name: column.type for column in plan.contract.columns}
    for bound in plan.instants:
        outside = is_outside(bound, types[bound.column], F.col(plan.partition_column))
        yield F.count_if(outside).alias(_INSTANTS + bound.column)


def is_outside(bound: InstantBound, column_type: str, day: Column) -> Column:
    """In whole microseconds since 1970, which no session's time zone changes."""
    column = F.col(bound.column)
    instant = _midnight(column) if column_type == "date" else F.unix_micros(column)
    since_day = instant - _midnight(day)
    earliest, latest = (_microseconds(bound.earliest), _microseconds(bound.latest))
    return (since_day < earliest) | (since_day >= latest)


def _midnight(day: Column) -> Column:
    return F.unix_date(day).cast("bigint") * F.lit(_MICROSECONDS_A_DAY)


def _microseconds(span: Any) -> Column:
    return F.lit(span.days * _MICROSECONDS_A_DAY + span.seconds * 1_000_000 + span.microseconds)


def _measures(measures: Iterable[Measure], prefix: str) -> Iterator[Column]:
    for measure in measures:
        yield F.expr(measure.expression).alias(prefix + measure.name)


def _private_rows(plan: MeasurePlan) -> Iterator[Column]:
    for promise, counted in count_private_rows(plan.protection).items():
        yield counted.alias(_PRIVATE + promise)


def _orphans(related: Iterable[Related]) -> Iterator[Column]:
    for relation, counted in count_orphans(related).items():
        yield counted.alias(_ORPHANS + relation)


def _refuse_inexact(part: DataFrame, plan: MeasurePlan) -> None:
    measured = (
        (field.name.split("__", 1)[1], field.dataType)
        for field in part.schema.fields
        if field.name.startswith((_MEASURES, _PARTS))
    )
    refuse_inexact(plan.table, "measures", measured)


def _read(day: date, rows: Iterable[Row], plan: MeasurePlan) -> PartitionMeasurement:
    values: dict[str, Any] = {}
    parts: dict[str, dict[str, Figure]] = defaultdict(dict)
    for row in rows:
        found = {name: value for name, value in row.asDict().items() if value is not None}
        where = found.pop(DIMENSION, None)
        if where is None:
            values |= found
            continue
        for name, figure in _with_prefix(found, _PARTS).items():
            parts[name][where] = figure
    return PartitionMeasurement(
        day=day,
        row_count=values["row_count"],
        checksum=f"{values['hash_sum']}:{values['hash_xor'] & 0xFFFFFFFFFFFFFFFF:016x}",
        duplicate_keys=values["duplicate_keys"],
        null_counts=_with_prefix(values, _NULLS),
        check_failures=_with_prefix(values, _CHECKS),
        measures=_totals(plan, _with_prefix(values, _MEASURES), parts),
        private_rows=_with_prefix(values, _PRIVATE),
        by_dimension=dict(parts),
        rows_without_lineage=values.get("rows_without_lineage"),
        orphans=_with_prefix(values, _ORPHANS),
        misplaced_instants=_with_prefix(values, _INSTANTS),
    )


def _totals(
    plan: MeasurePlan, found: Mapping[str, Any], parts: Mapping[str, Mapping[str, Figure]]
) -> dict[str, Figure]:
    totals = {measure.name: found.get(measure.name, 0) for measure in plan.measures}
    return totals | {
        measure.name: sum(parts[measure.name].values(), 0)
        for measure in plan.reconciled
        if measure.by
    }


def _with_prefix(values: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {
        name.removeprefix(prefix): exact(value)
        for name, value in values.items()
        if name.startswith(prefix)
    }
