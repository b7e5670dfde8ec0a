"""Collects some of the rows for which a gate did not pass: one Spark action, and only then.

Of each day, gate and check the same rows every time: those with the least hashes. What is private
is not shown: a sample outlives the screen that it is shown on.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F

from backfill_platform.domain.contracts import LINEAGE_COLUMNS
from backfill_platform.domain.failing_rows import NOT_SHOWN, SHOWN_OF_EACH, FailingRow
from backfill_platform.domain.transforms import REJECT_REASON
from backfill_platform.domain.verdicts import Gate
from backfill_platform.validator.checks import is_failing
from backfill_platform.validator.failing import NULLS_IN, Sought
from backfill_platform.validator.hashing import row_hash
from backfill_platform.validator.measure import is_outside
from backfill_platform.validator.measure_plan import MeasurePlan
from backfill_platform.validator.relations import Related, with_relations

_DAY, _DRAW, _TIMES, _RANK = "day", "draw__", "times__", "rank__"
_ORIGIN = frozenset(column.name for column in LINEAGE_COLUMNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledRows:
    staged: DataFrame
    rejects: DataFrame | None  # nothing where nothing was set aside
    related: Sequence[Related]
    plan: MeasurePlan
    private: frozenset[str]  # columns whose values are not shown


def sample_failing(rows: SampledRows, sought: Sequence[Sought]) -> tuple[FailingRow, ...]:
    set_aside = [one for one in sought if one.gate is Gate.REJECTS_BOUNDED]
    staged = [one for one in sought if one.gate is not Gate.REJECTS_BOUNDED]
    parts = [
        *([_of_staged(rows, staged)] if staged else []),
        *([_of_rejects(rows, set_aside)] if set_aside and rows.rejects is not None else []),
    ]
    if not parts:
        return ()
    drawn = Window.partitionBy(_DAY, "gate", "check").orderBy(_DRAW)
    found = (
        reduce(DataFrame.union, parts)
        .withColumn(_RANK, F.row_number().over(drawn))
        .where(F.col(_RANK) <= SHOWN_OF_EACH)
        .orderBy(_DAY, "gate", "check", _RANK)
        .collect()
    )
    return tuple(_read(row) for row in found)


def _of_staged(rows: SampledRows, sought: Sequence[Sought]) -> DataFrame:
    plan = rows.plan
    days = sorted({day for one in sought for day in one.days})
    staged = rows.staged.where(F.col(plan.partition_column).isin(days))
    if any(one.gate is Gate.KEY_UNIQUE for one in sought):
        repeated = Window.partitionBy(*plan.keys)
        staged = staged.withColumn(_TIMES, F.count(F.lit(1)).over(repeated))
    if any(one.gate is Gate.RELATIONS_KEPT for one in sought):
        staged = with_relations(staged, rows.related, plan.partition_column)
    failing = F.array_compact(F.array(*(_failing(rows, one) for one in sought)))
    return staged.select(
        F.col(plan.partition_column).alias(_DAY),
        F.explode(failing).alias("failing"),
        _key(rows, plan.keys).alias("key"),
        row_hash(sorted(plan.contract.column_names)).alias(_DRAW),
    ).select(_DAY, "failing.gate", "failing.check", "key", "failing.found", _DRAW)


def _of_rejects(rows: SampledRows, sought: Sequence[Sought]) -> DataFrame:
    rejects, plan = rows.rejects, rows.plan
    assert rejects is not None, "rows that were counted are there"
    days = sorted({day for one in sought for day in one.days})
    apart = {plan.partition_column, REJECT_REASON, *_ORIGIN, *plan.keys}
    keys = [name for name in plan.keys if name in rejects.columns]
    return rejects.where(F.col(plan.partition_column).isin(days)).select(
        F.col(plan.partition_column).alias(_DAY),
        F.lit(Gate.REJECTS_BOUNDED.value).alias("gate"),
        F.col(REJECT_REASON).alias("check"),
        _key(rows, keys).alias("key"),
        _shown(rows, [name for name in rejects.columns if name not in apart]).alias("found"),
        row_hash(sorted(rejects.columns)).alias(_DRAW),
    )


def _failing(rows: SampledRows, sought: Sought) -> Column:
    """Null for a row that is as it should be."""
    fails, found = _judged(rows, sought)
    on = F.col(rows.plan.partition_column).isin(list(sought.days))
    said = F.struct(
        F.lit(sought.gate.value).alias("gate"),
        F.lit(sought.check).alias("check"),
        found.alias("found"),
    )
    return F.when(on & fails, said)


def _judged(rows: SampledRows, sought: Sought) -> tuple[Column, Column]:
    """Whether a row fails, and the values by which."""
    plan = rows.plan
    match sought.gate:
        case Gate.KEY_UNIQUE:
            times = F.to_json(F.struct(F.col(_TIMES).cast("string").alias("rows with this key")))
            return F.col(_TIMES) > 1, times
        case Gate.RELATIONS_KEPT:
            related = next(one for one in rows.related if one.name == sought.check)
            return F.col(related.flag), _shown(rows, related.columns)
        case Gate.INSTANTS_BOUNDED:
            bound = next(one for one in plan.instants if one.column == sought.check)
            column = plan.contract.column(bound.column)
            assert column is not None, "the catalog refuses a bound on no column"
            day = F.col(plan.partition_column)
            return is_outside(bound, column.type, day), _shown(rows, [bound.column])
        case _:
            return _invalid(rows, sought.check)


def _invalid(rows: SampledRows, name: str) -> tuple[Column, Column]:
    check = next((one for one in rows.plan.contract.checks if one.name == name), None)
    if check is not None:
        return is_failing(check), _shown(rows, [check.column])
    column = name.removeprefix(NULLS_IN)
    return F.col(column).isNull(), _shown(rows, [column])


def _key(rows: SampledRows, names: Iterable[str]) -> Column:
    return _shown(rows, [name for name in names if name != rows.plan.partition_column])


def _shown(rows: SampledRows, names: Sequence[str]) -> Column:
    """As JSON of texts."""
    values = [_text(rows, name).alias(name) for name in names]
    return F.to_json(F.struct(*values), {"ignoreNullFields": "false"}) if values else F.lit("{}")


def _text(rows: SampledRows, name: str) -> Column:
    return F.lit(NOT_SHOWN) if name in rows.private else F.col(f"`{name}`").cast("string")


def _read(row: Row) -> FailingRow:
    return FailingRow(
        day=row[_DAY],
        gate=Gate(row["gate"]),
        check=row["check"],
        key=json.loads(row["key"]),
        found=json.loads(row["found"]),
    )
