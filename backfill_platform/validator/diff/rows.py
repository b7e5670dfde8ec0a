"""The one join by key: each row that differs, with both of its sides and what lies between them.

Rows that somebody asked for stay in, whether they differ or not. Lineage columns are not compared:
every run writes its own.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.changes import Change, DriftUnit
from backfill_platform.domain.privacy import Protection
from backfill_platform.validator.diff.shape import Measured, Shape
from backfill_platform.validator.privacy import is_listed, with_listed_subjects

# Names of the platform's own, beside those that a table may have.
BEFORE, AFTER, DRIFT = "before__", "after__", "drift__"
CHANGE, CHANGED_COLUMNS = "change__", "changed_columns__"
WATCHED, DRAW, LISTED = "watched__", "draw__", "listed__"
_THERE = "there"
_MICROSECOND = Decimal("0.000001")


def join_sides(
    before: DataFrame, after: DataFrame, shape: Shape, protection: Protection
) -> DataFrame:
    """A row for each key of either side; a null in a key equals a null."""
    old, new = (
        _side(_with_listed(rows, protection), shape, side)
        for side, rows in ((BEFORE, before), (AFTER, after))
    )
    same_key = [F.col(BEFORE + key).eqNullSafe(F.col(AFTER + key)) for key in shape.keys]
    return old.join(new, reduce(and_, same_key), "full").select(
        *(_coalesced(key) for key in shape.keys),
        *(F.col(side + name) for side in (BEFORE, AFTER) for name in (*shape.columns, _THERE)),
        F.greatest(BEFORE + LISTED, AFTER + LISTED).alias(LISTED),
    )


def as_unchanged(rows: DataFrame, shape: Shape) -> DataFrame:
    """Rows that are the same on both sides, as `join_sides` would give them."""
    return rows.select(
        *shape.keys,
        *(F.col(name).alias(side + name) for side in (BEFORE, AFTER) for name in shape.columns),
        *(F.lit(True).alias(side + _THERE) for side in (BEFORE, AFTER)),
        F.lit(False).alias(LISTED),
    )


def differing_rows(
    joined: DataFrame, shape: Shape, watched: Sequence[Mapping[str, str]], seed: str
) -> DataFrame:
    return (
        joined.withColumn(CHANGED_COLUMNS, _changed_columns(shape))
        .withColumn(CHANGE, _change())
        .withColumn(WATCHED, matches(watched))
        .where((F.col(CHANGE) != Change.UNCHANGED.value) | (F.size(WATCHED) > 0))
        .withColumn(DRAW, F.xxhash64(F.lit(seed), *(F.col(key) for key in shape.keys)))
        .withColumns({DRIFT + one.name: _difference(one) for one in shape.measured})
    )


def matches(watched: Sequence[Mapping[str, str]]) -> Column:
    """The numbers of the watched keys that a row is one of."""
    numbered = [F.when(_has_key(key), F.lit(number)) for number, key in enumerate(watched)]
    return F.array_compact(F.array(*numbered).cast("array<int>"))


def number_of(measured: Measured, column: Column) -> Column:
    """What is no number (NaN) counts as missing."""
    if measured.decimal_places is not None:
        column = F.round(column, measured.decimal_places)
    number = column.try_cast(measured.sql_type)
    return number if measured.is_exact else F.when(~F.isnan(number), number)


def _with_listed(rows: DataFrame, protection: Protection) -> DataFrame:
    if protection.listed is None or protection.subject_column not in rows.columns:
        return rows.withColumn(LISTED, F.lit(False))
    return with_listed_subjects(rows, protection).withColumn(LISTED, is_listed())


def _side(rows: DataFrame, shape: Shape, side: str) -> DataFrame:
    named = [F.col(name).alias(side + name) for name in (*shape.keys, *shape.columns, LISTED)]
    return rows.select(*named, F.lit(True).alias(side + _THERE))


def _coalesced(key: str) -> Column:
    return F.coalesce(AFTER + key, BEFORE + key).alias(key)


def _changed_columns(shape: Shape) -> Column:
    differing = [
        F.when(~F.col(BEFORE + name).eqNullSafe(F.col(AFTER + name)), F.lit(name))
        for name in shape.columns
    ]
    on_both = F.col(BEFORE + _THERE) & F.col(AFTER + _THERE)
    nothing = F.array().cast("array<string>")
    changed = F.array_compact(F.array(*differing).cast("array<string>"))
    return F.coalesce(F.when(on_both, changed), nothing)


def _change() -> Column:
    return (
        F.when(F.col(BEFORE + _THERE).isNull(), Change.ADDED.value)
        .when(F.col(AFTER + _THERE).isNull(), Change.REMOVED.value)
        .when(F.size(CHANGED_COLUMNS) > 0, Change.CHANGED.value)
        .otherwise(Change.UNCHANGED.value)
    )


def _has_key(key: Mapping[str, str]) -> Column:
    return reduce(and_, (F.col(name).cast("string") == value for name, value in key.items()))


def _difference(measured: Measured) -> Column:
    old, new = F.col(BEFORE + measured.name), F.col(AFTER + measured.name)
    match measured.unit:
        case DriftUnit.DAYS:
            return F.date_diff(new, old).cast("decimal(10,0)")
        case DriftUnit.SECONDS:
            microseconds = (F.unix_micros(new) - F.unix_micros(old)).cast("decimal(20,0)")
            return (microseconds * F.lit(_MICROSECOND)).cast("decimal(20,6)")
        case DriftUnit.NUMBER:
            zero = F.lit(0).cast(measured.sql_type)
            return F.try_subtract(
                F.coalesce(number_of(measured, new), zero),
                F.coalesce(number_of(measured, old), zero),
            )
