"""What each staged row shows by itself, counted: nulls, failing checks, references to what nobody
lists, lineage and instants.

Spark compiles one aggregation to one method, and Java's compiler gives up on a long one, after
which each row costs several times as much. So very many are counted in several aggregations.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import islice
from operator import or_

from pyspark.sql import Column
from pyspark.sql import functions as F

from backfill_platform.domain.contracts import LINEAGE_COLUMNS, ColumnCheck, Contract
from backfill_platform.validator.checks import UNIQUE_VALUES, failing_rows
from backfill_platform.validator.instants import is_outside
from backfill_platform.validator.measure_plan import MeasurePlan
from backfill_platform.validator.relations import Related, is_orphan

NULLS, CHECKS, INSTANTS, ORPHANS = "nulls__", "checks__", "instants__", "orphans__"
WITHOUT_LINEAGE = "rows_without_lineage"
_BESIDE_CONTENT, _ALONE = 40, 50  # tried: the first stand beside the checksum's long expression

Counted = Mapping[str, Column]


def in_short_aggregations(flags: Counted) -> Sequence[Counted]:
    left = iter(flags.items())
    parts = [dict(islice(left, _BESIDE_CONTENT))]
    while part := dict(islice(left, _ALONE)):
        parts.append(part)
    return parts


def count_flags(
    plan: MeasurePlan, columns: Sequence[str], related: Iterable[Related] = ()
) -> Counted:
    """`columns` are those that the rows have. All of these add up over groups of rows."""
    return dict(_flags(plan, columns, related))


def count_values(contract: Contract) -> Counted:
    """What is said of all rows of a day and not of single ones."""
    return {
        CHECKS + check.name: failing_rows(check)
        for check in contract.checks
        if not _is_of_rows(check)
    }


def _flags(
    plan: MeasurePlan, columns: Sequence[str], related: Iterable[Related]
) -> Iterator[tuple[str, Column]]:
    yield from _without_lineage(plan, columns)
    for column in plan.contract.columns:
        if not column.is_nullable:
            yield NULLS + column.name, F.count_if(F.col(column.name).isNull())
    for check in filter(_is_of_rows, plan.contract.checks):
        yield CHECKS + check.name, failing_rows(check)
    types = {column.name: column.type for column in plan.contract.columns}
    for bound in plan.instants:
        outside = is_outside(bound, types[bound.column], F.col(plan.partition_column))
        yield INSTANTS + bound.column, F.count_if(outside)
    for one in related:
        if one.is_listed:
            yield ORPHANS + one.name, F.count_if(is_orphan(one))


def _is_of_rows(check: ColumnCheck) -> bool:
    return check.check != UNIQUE_VALUES


def _without_lineage(plan: MeasurePlan, columns: Sequence[str]) -> Iterator[tuple[str, Column]]:
    """Not measured where rows have no such columns, which is no measurement of zero."""
    required = [column.name for column in LINEAGE_COLUMNS if not column.is_nullable]
    if not set(required) <= set(columns):
        return
    lacks = reduce(or_, (F.col(name).isNull() for name in required))
    if plan.written_by is not None:
        lacks = lacks | (F.col("produced_by_run_id") != plan.written_by)
    yield WITHOUT_LINEAGE, F.count_if(lacks)
