"""Whether a row is to blame where a gate did not pass, and by which of its values: as expressions.

What a row shows only among others (that its key is repeated, that it refers to nothing) is added to
the rows first. A check that pandera runs itself says nothing of single rows, so none is to blame.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from backfill_platform.domain.failing_rows import NOT_SHOWN
from backfill_platform.domain.verdicts import Gate
from backfill_platform.validator.checks import is_failing
from backfill_platform.validator.failing import NULLS_IN, Sought
from backfill_platform.validator.instants import is_outside
from backfill_platform.validator.measure_plan import MeasurePlan
from backfill_platform.validator.relations import Related, with_relations

_TIMES = "times__"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """By what rows were judged, and what of them is not shown."""

    plan: MeasurePlan
    related: Sequence[Related]
    private: frozenset[str]  # columns


def with_neighbours(rows: DataFrame, judged: Judged, sought: Sequence[Sought]) -> DataFrame:
    for number, one in enumerate(sought):
        alike = _repeated_columns(judged.plan, one)
        if alike:
            same = Window.partitionBy(judged.plan.partition_column, *alike)
            rows = rows.withColumn(f"{_TIMES}{number}", F.count(F.lit(1)).over(same))
    if any(one.gate is Gate.RELATIONS_KEPT for one in sought):
        return with_relations(rows, judged.related, judged.plan.partition_column)
    return rows


def failing(judged: Judged, sought: Sequence[Sought]) -> Column:
    """All for which a row of `with_neighbours` is to blame."""
    said = [_said(judged, number, one) for number, one in enumerate(sought)]
    return F.array_compact(F.array(*said))


def shown(names: Iterable[str], private: frozenset[str]) -> Column:
    """As JSON of texts."""
    values = [_text(name, private).alias(name) for name in names]
    return F.to_json(F.struct(*values), {"ignoreNullFields": "false"}) if values else F.lit("{}")


def _repeated_columns(plan: MeasurePlan, sought: Sought) -> tuple[str, ...]:
    if sought.gate is Gate.KEY_UNIQUE:
        return plan.keys
    uniques = (one.columns for one in plan.contract.uniques if one.name == sought.check)
    return next(uniques, ()) if sought.gate is Gate.VALUES_VALID else ()


def _said(judged: Judged, number: int, sought: Sought) -> Column:
    """Null for a row that is as it should be."""
    fails, found = _by(judged, number, sought)
    on = F.col(judged.plan.partition_column).isin(list(sought.days))
    said = F.struct(
        F.lit(sought.gate.value).alias("gate"),
        F.lit(sought.check).alias("check"),
        found.alias("found"),
    )
    return F.when(on & fails, said)


def _by(judged: Judged, number: int, sought: Sought) -> tuple[Column, Column]:
    """Whether a row fails, and the values by which."""
    plan, private = judged.plan, judged.private
    match sought.gate:
        case Gate.KEY_UNIQUE:
            times = F.col(f"{_TIMES}{number}")
            return times > 1, F.to_json(F.struct(times.cast("string").alias("rows with this key")))
        case Gate.RELATIONS_KEPT:
            related = next(one for one in judged.related if one.name == sought.check)
            return F.col(related.flag), shown(related.columns, private)
        case Gate.INSTANTS_BOUNDED:
            return _misplaced(plan, sought.check), shown([sought.check], private)
        case _:
            return _invalid(judged, number, sought)


def _misplaced(plan: MeasurePlan, name: str) -> Column:
    bound = next(one for one in plan.instants if one.column == name)
    column = plan.contract.column(name)
    assert column is not None, "the catalog refuses a bound on no column"
    return is_outside(bound, column.type, F.col(plan.partition_column))


def _invalid(judged: Judged, number: int, sought: Sought) -> tuple[Column, Column]:
    private, name = judged.private, sought.check
    for check in judged.plan.contract.checks:
        if check.name == name:
            return is_failing(check), shown([check.column], private)
    alike = _repeated_columns(judged.plan, sought)
    if alike:
        return F.col(f"{_TIMES}{number}") > 1, shown(alike, private)
    if not name.startswith(NULLS_IN):
        return F.lit(False), F.lit("{}")
    column = name.removeprefix(NULLS_IN)
    return F.col(column).isNull(), shown([column], private)


def _text(name: str, private: frozenset[str]) -> Column:
    return F.lit(NOT_SHOWN) if name in private else F.col(f"`{name}`").cast("string")
