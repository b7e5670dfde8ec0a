"""Collects some of the rows for which a gate did not pass: one Spark action, and only then.

Of each day, gate and check the same rows every time: those with the least hashes. What is private
is not shown: a sample outlives the screen that it is shown on.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as F

from backfill_platform.domain.contracts import LINEAGE_COLUMNS
from backfill_platform.domain.failing_rows import SHOWN_OF_EACH, FailingRow
from backfill_platform.domain.transforms import REJECT_REASON
from backfill_platform.domain.verdicts import Gate
from backfill_platform.validator.blame import Judged, failing, shown, with_neighbours
from backfill_platform.validator.failing import Sought
from backfill_platform.validator.hashing import row_hash

_DAY, _DRAW, _RANK = "day", "draw__", "rank__"
_ORIGIN = frozenset(column.name for column in LINEAGE_COLUMNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledRows:
    staged: DataFrame
    rejects: DataFrame | None  # nothing where nothing was set aside


def sample_failing(
    rows: SampledRows, judged: Judged, sought: Sequence[Sought]
) -> tuple[FailingRow, ...]:
    set_aside = [one for one in sought if one.gate is Gate.REJECTS_BOUNDED]
    staged = [one for one in sought if one.gate is not Gate.REJECTS_BOUNDED]
    parts: list[DataFrame] = []
    if staged:
        parts.append(_of_staged(rows.staged, judged, staged))
    if set_aside and rows.rejects is not None:
        parts.append(_of_rejects(rows.rejects, judged, set_aside))
    return tuple(map(_read, _drawn(parts))) if parts else ()


def _drawn(parts: Sequence[DataFrame]) -> list[Row]:
    by_draw = Window.partitionBy(_DAY, "gate", "check").orderBy(_DRAW)
    ranked = reduce(DataFrame.union, parts).withColumn(_RANK, F.row_number().over(by_draw))
    wanted = ranked.where(F.col(_RANK) <= SHOWN_OF_EACH)
    return wanted.orderBy(_DAY, "gate", "check", _RANK).collect()


def _of_staged(rows: DataFrame, judged: Judged, sought: Sequence[Sought]) -> DataFrame:
    plan = judged.plan
    keys = [name for name in plan.keys if name != plan.partition_column]
    return (
        with_neighbours(_on_days(rows, judged, sought), judged, sought)
        .select(
            F.col(plan.partition_column).alias(_DAY),
            F.explode(failing(judged, sought)).alias("failing"),
            shown(keys, judged.private).alias("key"),
            row_hash(sorted(plan.contract.column_names)).alias(_DRAW),
        )
        .select(_DAY, "failing.gate", "failing.check", "key", "failing.found", _DRAW)
    )


def _of_rejects(rows: DataFrame, judged: Judged, sought: Sequence[Sought]) -> DataFrame:
    day, private = judged.plan.partition_column, judged.private
    told = [name for name in rows.columns if name not in {day, REJECT_REASON, *_ORIGIN}]
    keys = [name for name in told if name in judged.plan.keys]
    return _on_days(rows, judged, sought).select(
        F.col(day).alias(_DAY),
        F.lit(Gate.REJECTS_BOUNDED.value).alias("gate"),
        F.col(REJECT_REASON).alias("check"),
        shown(keys, private).alias("key"),
        shown([name for name in told if name not in keys], private).alias("found"),
        row_hash(sorted(rows.columns)).alias(_DRAW),
    )


def _on_days(rows: DataFrame, judged: Judged, sought: Sequence[Sought]) -> DataFrame:
    days = sorted({day for one in sought for day in one.days})
    return rows.where(F.col(judged.plan.partition_column).isin(days))


def _read(row: Row) -> FailingRow:
    return FailingRow(
        day=row[_DAY],
        gate=Gate(row["gate"]),
        check=row["check"],
        key=json.loads(row["key"]),
        found=json.loads(row["found"]),
    )
