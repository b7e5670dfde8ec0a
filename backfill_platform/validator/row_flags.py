"""What each staged row shows by itself, counted: nulls, failing checks, lineage and instants.

Spark compiles one aggregation to one method, and Java's compiler gives up on a long one, after
which each row costs several times as much. So they are counted in several aggregations.
"""

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_

from pyspark.sql import Column
from pyspark.sql import functions as F

from backfill_platform.domain.contracts import LINEAGE_COLUMNS
from backfill_platform.validator.checks import failing_rows
from backfill_platform.validator.instants import is_outside
from backfill_platform.validator.measure_plan import MeasurePlan

NULLS, CHECKS, INSTANTS = "nulls__", "checks__", "instants__"
WITHOUT_LINEAGE = "rows_without_lineage"
_BESIDE_CONTENT, _ALONE = 30, 50  # tried: the first stand beside the checksum's long expression


def in_short_aggregations(flags: Sequence[Column]) -> Iterator[Sequence[Column]]:
    yield flags[:_BESIDE_CONTENT]
    for start in range(_BESIDE_CONTENT, len(flags), _ALONE):
        yield flags[start : start + _ALONE]


def count_flags(plan: MeasurePlan, columns: Sequence[str]) -> Iterator[Column]:
    """`columns` are those that the rows have."""
    yield from _without_lineage(plan, columns)
    for column in plan.contract.columns:
        if not column.is_nullable:
            yield F.count_if(F.col(column.name).isNull()).alias(NULLS + column.name)
    for check in plan.contract.checks:
        yield failing_rows(check).alias(CHECKS + check.name)
    types = {column.name: column.type for column in plan.contract.columns}
    for bound in plan.instants:
        outside = is_outside(bound, types[bound.column], F.col(plan.partition_column))
        yield F.count_if(outside).alias(INSTANTS + bound.column)


def _without_lineage(plan: MeasurePlan, columns: Sequence[str]) -> Iterator[Column]:
    """Not measured where rows have no such columns, which is no measurement of zero."""
    required = [column.name for column in LINEAGE_COLUMNS if not column.is_nullable]
    if not set(required) <= set(columns):
        return
    lacks = reduce(or_, (F.col(name).isNull() for name in required))
    if plan.written_by is not None:
        lacks = lacks | (F.col("produced_by_run_id") != plan.written_by)
    yield F.count_if(lacks).alias(WITHOUT_LINEAGE)
