"""Writes the rows that differ as a Delta table, so that anybody can ask it more.

Invariant: comparing a run again leaves the table as comparing it once would
(test_comparing_twice_equals_comparing_once). Each comparison looks at all that is staged, so it
replaces the whole table, in one commit. Nothing is written of a row about somebody who is to be
forgotten, and no value under a mask.
"""

from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.changes import Change
from backfill_platform.domain.errors import LostRace
from backfill_platform.domain.identity import RunId
from backfill_platform.validator.diff.rows import (
    AFTER,
    BEFORE,
    CHANGE,
    CHANGED_COLUMNS,
    DRIFT,
    LISTED,
)
from backfill_platform.validator.diff.samples import MOVED, RANK, SAMPLES
from backfill_platform.validator.diff.shape import Shape
from backfill_platform.validator.privacy import as_masked

_CONFLICTS = ("DELTA_CONCURRENT", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED")


def written_rows(
    rows: DataFrame, shape: Shape, *, run_id: RunId, base_version: int | None
) -> DataFrame:
    """In the columns that the docs tell."""
    return rows.where(~F.col(LISTED)).select(
        *(_key(name, shape) for name in shape.keys),
        F.col(CHANGE).alias("change"),
        F.col(CHANGED_COLUMNS).alias("changed_columns"),
        _side(shape, BEFORE, Change.ADDED),
        _side(shape, AFTER, Change.REMOVED),
        *_drift(shape),
        F.col(MOVED).alias("moved"),
        F.col(SAMPLES).alias("samples"),
        F.col(RANK).alias("largest_rank"),
        F.lit(run_id).alias("run_id"),
        F.lit(base_version).cast("long").alias("base_version"),
    )


def write_table(rows: DataFrame, path: Path, run_id: RunId) -> None:
    writer = rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true")
    try:
        writer.save(str(path))
    except PySparkException as refused:
        if not any(conflict in str(refused) for conflict in _CONFLICTS):
            raise
        raise LostRace(
            f"Somebody else compared run {run_id} at the same moment, and this comparison was not "
            f"kept: `backfill compare {run_id}` again, or `--show` theirs"
        ) from refused


def _key(name: str, shape: Shape) -> Column:
    mask = shape.masks.get(name)
    return F.col(name) if mask is None else as_masked(F.col(name), mask).alias(name)


def _side(shape: Shape, side: str, absent: Change) -> Column:
    """Null where the row is not there on this side; its key where no other column may be written,
    for a struct has to hold something."""
    values = [F.col(side + name).alias(name) for name in shape.written]
    whole = F.struct(*(values or [_key(name, shape) for name in shape.keys]))
    return F.when(F.col(CHANGE) != absent.value, whole).alias(side.removesuffix("__"))


def _drift(shape: Shape) -> list[Column]:
    differences = [F.col(DRIFT + one.name).alias(one.name) for one in shape.measured]
    return [F.struct(*differences).alias("drift")] if differences else []
