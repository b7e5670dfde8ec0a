"""Which of the rows that differ are shown: those that move the most, some at random, and watched.

How far a row moves is the sum, over its columns, of each difference as a share of the greatest one
of that column in the run: so the greatest difference of every column counts as one, whatever it is
measured in. Among equals the row with more changed columns comes first, then the draw.

Invariant: the same run gives the same samples (test_samples_are_the_same_each_time). The draw is a
hash of the manifest's digest and the key, and knows no order of rows, files or tasks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.changes import Change, Sample
from backfill_platform.validator.diff.rows import (
    CHANGE,
    CHANGED_COLUMNS,
    DRAW,
    DRIFT,
    LISTED,
    WATCHED,
)

SAMPLED = 100
MOVED, RANK, SAMPLES = "moved__", "rank__", "samples__"
_IS_RANDOM = "is_random__"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """Rows by their draw."""

    largest: tuple[int, ...]  # in their order
    random: tuple[int, ...]


def with_movement(rows: DataFrame, greatest: Mapping[str, Any]) -> DataFrame:
    shares = [_share(name, float(most)) for name, most in greatest.items()]
    return rows.withColumn(MOVED, reduce(add, shares, F.lit(0.0)))


def draw_samples(moved: DataFrame, size: int = SAMPLED) -> Drawn:
    """Rows that are not kept are not drawn either."""
    shown = moved.where((F.col(CHANGE) != Change.UNCHANGED.value) & ~F.col(LISTED))
    order = (F.desc(MOVED), F.desc(F.size(CHANGED_COLUMNS)), F.col(DRAW))
    largest = shown.orderBy(*order).select(DRAW).limit(size).collect()
    random = shown.orderBy(DRAW).select(DRAW).limit(size).collect()
    return Drawn(
        largest=tuple(row[DRAW] for row in largest), random=tuple(row[DRAW] for row in random)
    )


def with_samples(moved: DataFrame, drawn: Drawn) -> DataFrame:
    ranks = {draw: rank for rank, draw in enumerate(drawn.largest, start=1)}
    known = [(draw, ranks.get(draw), draw in drawn.random) for draw in {*ranks, *drawn.random}]
    marks = moved.sparkSession.createDataFrame(
        sorted(known), f"{DRAW} long, {RANK} int, {_IS_RANDOM} boolean"
    )
    return (
        moved.join(F.broadcast(marks), DRAW, "left")
        .withColumn(RANK, F.when(F.col(CHANGE) != Change.UNCHANGED.value, F.col(RANK)))
        .withColumn(SAMPLES, _samples())
    )


def _share(name: str, most: float) -> Column:
    difference = F.abs(F.col(DRIFT + name).cast("double"))
    return F.coalesce(difference / F.lit(most), F.lit(0.0))


def _samples() -> Column:
    reasons = {
        Sample.LARGEST: F.col(RANK).isNotNull(),
        Sample.RANDOM: F.col(_IS_RANDOM),
        Sample.WATCHED: F.size(WATCHED) > 0,
    }
    named = [F.when(holds, F.lit(sample.value)) for sample, holds in reasons.items()]
    return F.array_compact(F.array(*named))
