"""The figures of a diff: counts by column and by dimension, and how far numbers move.

Each function is one Spark action. What did not change is counted without the join: staged rows less
those that are new or other.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F

from backfill_platform.domain.changes import (
    Change,
    ChangeCount,
    ColumnDrift,
    DimensionCounts,
    DriftUnit,
    WatchedKey,
    mean_difference,
)
from backfill_platform.validator.diff.rows import (
    AFTER,
    BEFORE,
    CHANGE,
    CHANGED_COLUMNS,
    DRIFT,
    LISTED,
    WATCHED,
    number_of,
)
from backfill_platform.validator.diff.shape import Measured, Shape

VALUES_KEPT = 1000  # of a dimension; its evidence has to stay readable
NULL = "null"
_STAGED = "STAGED"
_SIGNIFICANT = 12  # digits of a floating sum: those below depend on the order of its summands


def overall_figures(rows: DataFrame, shape: Shape) -> dict[str, Any]:
    """By name, as `changed_by_column` and `drift_of` take them."""
    columns = [
        F.count_if(F.array_contains(CHANGED_COLUMNS, name)).alias(f"changed:{name}")
        for name in shape.columns
    ]
    drifts = [figure for one in shape.measured for figure in _drift_figures(one)]
    not_kept = F.count_if(F.col(LISTED)).alias("not_kept")
    (found,) = rows.agg(*columns, *drifts, not_kept).collect()
    return found.asDict()


def changed_by_column(found: Mapping[str, Any], shape: Shape) -> dict[str, int]:
    counted = {name: found[f"changed:{name}"] for name in shape.columns}
    return {name: rows for name, rows in counted.items() if rows}


def greatest_differences(found: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """By column; only of those that move."""
    most = {one.name: _greatest(found, one.name) for one in shape.measured}
    return {name: abs(most) for name, most in most.items() if most}


def side_totals(before: DataFrame, after: DataFrame, shape: Shape) -> dict[str, tuple[Any, Any]]:
    """Of each column of numbers, over all rows of each side."""
    numbers = [one for one in shape.measured if one.unit is DriftUnit.NUMBER]
    if not numbers:
        return {}
    summed = [F.try_sum(number_of(one, F.col(one.name))).alias(one.name) for one in numbers]
    sides = [side.agg(F.lit(name).alias("side"), *summed) for name, side in _named(before, after)]
    found = {row["side"]: row for row in sides[0].unionByName(sides[1]).collect()}
    return {one.name: (found[BEFORE][one.name], found[AFTER][one.name]) for one in numbers}


def drift_of(
    found: Mapping[str, Any], totals: Mapping[str, tuple[Any, Any]], shape: Shape
) -> tuple[ColumnDrift, ...]:
    return tuple(_drift(found, totals.get(one.name, (None, None)), one) for one in shape.measured)


def count_by_dimension(
    rows: DataFrame, after: DataFrame, shape: Shape, dimensions: Sequence[str]
) -> tuple[ChangeCount, tuple[DimensionCounts, ...]]:
    """Over all rows, and for each value of each dimension: a row's value is that which it gets, or
    had where it is removed."""
    differing = rows.where(F.col(CHANGE) != Change.UNCHANGED.value).select(
        F.col(CHANGE).alias("what"), _places(dimensions, lambda name: _value(name, shape))
    )
    staged = after.select(F.lit(_STAGED).alias("what"), _places(dimensions, F.col))
    by_value = (
        differing.unionByName(staged)
        .groupBy("place.dimension", "place.value")
        .agg(*(F.count_if(F.col("what") == one).alias(one.lower()) for one in _COUNTED))
        .withColumn("differing", F.col("added") + F.col("removed") + F.col("changed"))
    )
    of_dimension = Window.partitionBy("dimension")
    ranked = of_dimension.orderBy(F.desc("differing"), "value")
    found = (
        by_value.withColumn("values", F.count(F.lit(1)).over(of_dimension))
        .withColumn("rank", F.row_number().over(ranked))
        .where(F.col("rank") <= VALUES_KEPT)
        .collect()
    )
    return _read_counts(found, dimensions)


def watched_keys(rows: DataFrame, watched: Sequence[Mapping[str, str]]) -> tuple[WatchedKey, ...]:
    if not watched:
        return ()
    counted = (
        rows.select(F.explode(WATCHED).alias("number"), CHANGE)
        .groupBy("number", CHANGE)
        .agg(F.count(F.lit(1)).alias("rows"))
        .collect()
    )
    found = {(row["number"], row[CHANGE]): row["rows"] for row in counted}
    return tuple(
        WatchedKey(
            key=dict(key),
            **{one.value.lower(): found.get((number, one.value), 0) for one in Change},
        )
        for number, key in enumerate(watched)
    )


_COUNTED = (Change.ADDED.value, Change.REMOVED.value, Change.CHANGED.value, _STAGED)


def _drift_figures(measured: Measured) -> list[Column]:
    difference = F.nullif(F.col(DRIFT + measured.name), F.lit(0))
    return [
        F.count(difference).alias(f"rows:{measured.name}"),
        F.try_sum(difference).alias(f"sum:{measured.name}"),
        F.try_sum(F.abs(difference)).alias(f"absolute:{measured.name}"),
        F.min(difference).alias(f"least:{measured.name}"),
        F.max(difference).alias(f"most:{measured.name}"),
    ]


def _greatest(found: Mapping[str, Any], name: str) -> Any:
    """Whichever of the two is further from zero; upwards where both are."""
    least, most = found[f"least:{name}"], found[f"most:{name}"]
    if least is None or most is None:
        return None
    return most if abs(most) >= abs(least) else least


def _drift(found: Mapping[str, Any], totals: tuple[Any, Any], measured: Measured) -> ColumnDrift:
    name, rows = measured.name, found[f"rows:{measured.name}"]
    total = _figure(found[f"sum:{name}"]) if rows else Decimal(0)
    return ColumnDrift(
        column=name,
        unit=measured.unit,
        is_exact=measured.is_exact,
        rows=rows,
        sum_of_differences=total,
        sum_of_absolute_differences=_figure(found[f"absolute:{name}"]) if rows else Decimal(0),
        greatest_difference=_figure(_greatest(found, name)),
        mean_difference=mean_difference(total, rows),
        total_before=_figure(totals[0]),
        total_after=_figure(totals[1]),
    )


def _figure(found: Any) -> Decimal | None:
    """A floating sum that is infinite is no figure."""
    if isinstance(found, float):
        rounded = Decimal(f"{found:.{_SIGNIFICANT}g}")
        return rounded if rounded.is_finite() else None
    return None if found is None else Decimal(found)


def _named(before: DataFrame, after: DataFrame) -> tuple[tuple[str, DataFrame], ...]:
    return (BEFORE, before), (AFTER, after)


def _value(name: str, shape: Shape) -> Column:
    if name in shape.keys:
        return F.col(name)
    removed = F.col(CHANGE) == Change.REMOVED.value
    return F.when(removed, F.col(BEFORE + name)).otherwise(F.col(AFTER + name))


def _places(dimensions: Sequence[str], value: Any) -> Column:
    """Where a row is counted: among all, and under its value of each dimension."""
    counted = [
        F.struct(
            F.lit(name).alias("dimension"),
            F.coalesce(value(name).cast("string"), F.lit(NULL)).alias("value"),
        )
        for name in dimensions
    ]
    among_all = F.struct(F.lit("").alias("dimension"), F.lit("").alias("value"))
    return F.explode(F.array(among_all, *counted)).alias("place")


def _read_counts(
    found: Sequence[Row], dimensions: Sequence[str]
) -> tuple[ChangeCount, tuple[DimensionCounts, ...]]:
    totals = [_read_count(row) for row in found if row["dimension"] == ""]
    nothing = ChangeCount(value="", added=0, removed=0, changed=0, unchanged=0)
    return (totals or [nothing])[0], tuple(_of_dimension(found, name) for name in dimensions)


def _of_dimension(found: Sequence[Row], name: str) -> DimensionCounts:
    rows = [row for row in found if row["dimension"] == name]
    counts = sorted((_read_count(row) for row in rows), key=lambda one: one.value)
    more = rows[0]["values"] - len(rows) if rows else 0
    return DimensionCounts(column=name, values=tuple(counts), more_values=more)


def _read_count(row: Row) -> ChangeCount:
    return ChangeCount(
        value=row["value"],
        added=row["added"],
        removed=row["removed"],
        changed=row["changed"],
        unchanged=row["staged"] - row["added"] - row["changed"],
    )
