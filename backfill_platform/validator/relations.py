"""Finds staged rows that refer to what is not there: in an input, or in reference data.

No action: `measure` counts, and `samples` shows, by the flag that is left on each row. What an
input holds is joined; the values that reference data lists stand in the expression itself, unless
they are many. A row of a day may refer to what that day may read, so what is found is the same in
whatever chunk the day is computed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from backfill_platform.domain.quality import Relation
from backfill_platform.domain.transforms import Frames, InputWindow

_ORPHAN, _KEY, _SEEN = "orphan__", "key__", "seen__"
_MOST_LISTED = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class InputDays:
    """By which column an input tells its days apart, and which of them a day of output may use."""

    column: str
    window: InputWindow


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """What rows may refer to by one relation."""

    name: str
    columns: tuple[str, ...]  # of the staged rows
    number: int  # among the table's relations: a name may be no name of a column
    listed: frozenset[str] = frozenset()  # by reference data, where they are few
    known: DataFrame | None = (
        None  # else each key once, and the days of an input on which it is there
    )
    window: InputWindow | None = None  # of an input

    @property
    def is_listed(self) -> bool:
        return self.known is None

    @property
    def keys(self) -> list[str]:
        return [f"{_KEY}{self.number}_{at}" for at in range(len(self.columns))]

    @property
    def flag(self) -> str:
        return f"{_ORPHAN}{self.number}"


def find_related(
    spark: SparkSession,
    relations: Iterable[Relation],
    frames: Frames,
    inputs: Mapping[str, InputDays],
) -> tuple[Related, ...]:
    """`frames` as the chunk reads them, with references that are loaded."""
    return tuple(
        _in_input(number, relation, frames.inputs[relation.to], inputs[relation.to])
        if relation.to in frames.inputs
        else _in_reference(spark, number, relation, frames.references[relation.to])
        for number, relation in enumerate(relations)
    )


def with_relations(rows: DataFrame, related: Sequence[Related], partition_column: str) -> DataFrame:
    """Every row once, and beside it, for each relation, whether it refers to nothing."""
    return reduce(lambda flagged, one: _flagged(flagged, one, partition_column), related, rows)


def count_orphans(related: Iterable[Related]) -> dict[str, Column]:
    """One aggregate for each relation, over the rows of `with_relations`."""
    return {one.name: F.count_if(F.col(one.flag)) for one in related}


def _in_input(number: int, relation: Relation, rows: DataFrame, days: InputDays) -> Related:
    """Each key with all its days: joined by key and day, a long window would repeat every key."""
    columns = relation.to_columns or relation.columns
    keys = [F.col(column).alias(f"{_KEY}{number}_{at}") for at, column in enumerate(columns)]
    on = F.collect_set(days.column).alias(f"{_SEEN}{number}")
    return Related(
        name=relation.name,
        columns=relation.columns,
        number=number,
        known=rows.groupBy(*keys).agg(on),
        window=days.window,
    )


def _in_reference(
    spark: SparkSession, number: int, relation: Relation, reference: object
) -> Related:
    assert relation.known is not None, "the catalog refuses a relation that knows no values"
    related = Related(name=relation.name, columns=relation.columns, number=number)
    values = frozenset(relation.known(reference))
    if len(values) <= _MOST_LISTED:
        return replace(related, listed=values)
    rows = [(value, True) for value in sorted(values)]
    known = spark.createDataFrame(rows, f"{_KEY}{number}_0 string, {_SEEN}{number} boolean")
    return replace(related, known=F.broadcast(known))


def is_orphan(one: Related) -> Column:
    """By what reference data lists. It knows texts, and a null refers to nothing."""
    (column,) = one.columns
    return F.col(column).isNotNull() & ~F.col(column).cast("string").isin(*sorted(one.listed))


def _flagged(rows: DataFrame, one: Related, partition_column: str) -> DataFrame:
    if one.known is None:
        return rows.withColumn(one.flag, is_orphan(one))
    pairs = zip(one.columns, one.keys, strict=True)
    meets = (_said(one, column) == F.col(key) for column, key in pairs)
    refers = reduce(and_, (F.col(column).isNotNull() for column in one.columns))
    is_known = F.coalesce(_is_seen(one, F.col(partition_column)), F.lit(False))
    joined = rows.join(one.known, reduce(and_, meets), "left")
    return joined.withColumn(one.flag, refers & ~is_known).drop(*one.keys, f"{_SEEN}{one.number}")


def _said(one: Related, column: str) -> Column:
    """Reference data knows texts."""
    return F.col(column) if one.window is not None else F.col(column).cast("string")


def _is_seen(one: Related, day: Column) -> Column:
    """Within what a row's own day may read."""
    seen, window = F.col(f"{_SEEN}{one.number}"), one.window
    if window is None:
        return seen
    first, last = F.date_sub(day, window.before_days), F.date_add(day, window.after_days)
    return F.exists(seen, lambda on: on.between(first, last))
