"""Five tables over landings of their own, so that a gap of one of them is no gap of another."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.catalog import Declarations
from backfill_platform.domain.tables import Input, TableSpec
from backfill_platform.domain.transforms import Frames, TransformContext
from backfill_platform_tests import readings

NAMES = ("hole", "ahead", "failed", "poisoned", "daily")
_BRONZE = readings.DECLARATIONS.tables[0]


def table(name: str) -> str:
    return f"bronze.{name}"


def land(home: Path, name: str, days: Iterable[date], *meters: str) -> None:
    """A row for each of the meters: one that is named twice repeats its key."""
    readings.land(home / "landing" / name, days, [(meter, 1) for meter in meters])


def _landing(name: str) -> str:
    return f"landing.{name}"


def _load(name: str):
    def load(frames: Frames, context: TransformContext) -> DataFrame:
        days = context.publish_days
        landed = frames.inputs[_landing(name)].where(F.col("day").between(days.start, days.last))
        return landed.select("day", "meter", "amount")

    return load


def _count(name: str):
    def count(frames: Frames, context: TransformContext) -> DataFrame:
        return _load(name)(frames, context).groupBy("day").agg(F.count("*").alias("rows"))

    return count


def _spec(name: str) -> TableSpec:
    return replace(
        _BRONZE,
        name=name,
        inputs=(Input(name=_landing(name)),),
        transforms=(replace(_BRONZE.transforms[0], function=_load(name)),),
        reconciliation=replace(_BRONZE.reconciliation, from_inputs=_count(name)),
        chunk_days=31,
    )


DECLARATIONS = Declarations(
    sources=tuple(
        replace(readings.READINGS, name=_landing(name), path=f"{name}/readings") for name in NAMES
    ),
    references=(),
    tables=tuple(_spec(name) for name in NAMES),
)
