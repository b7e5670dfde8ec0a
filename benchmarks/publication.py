"""Publication and rollback through the engine, against reading and rewriting the rows with Spark.

Both do the same to equal tables, in the same warm session, one after the other in each round; the
rows of both tables are compared after each step. The engine's time is all of it: verdicts, consent,
fence, early cutoff, base and file checks, intent, commit, fact, accepted partitions, run states and
evidence, and for a rollback its plan. Copying checks and records nothing.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import median

from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.carry_out.staging import stage_chunk
from backfill_platform.engine.carry_out.starting import open_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.lakehouse.reading import replace_where
from backfill_platform.planner.rollback_facts import RollbackRequest
from benchmarks.world import START, TABLE, intent, land, open_world

ROUNDS = 3
HEADER = "| partitions | rows | | copying: least, median | engine: least, median | ratio |"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    partitions: int
    rows_each: int
    copied_rounds: int = ROUNDS  # copying thousands of partitions is waited for once

    @property
    def days(self) -> DayRange:
        return DayRange(START, START + timedelta(days=self.partitions))


SHAPES = (
    Shape(partitions=30, rows_each=200_000),
    Shape(partitions=365, rows_each=5_000),
    Shape(partitions=3_650, rows_each=500, copied_rounds=1),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Seconds; nothing for what was not copied."""

    published: float
    copied: float | None
    rolled_back: float
    copied_back: float | None


def publication_table(spark: SparkSession, folder: Path) -> Iterator[str]:
    """Line by line, as docs/benchmarks.md has it."""
    yield HEADER
    yield "|---|---|---|---|---|---|"
    for shape in SHAPES:
        rounds = _rounds(spark, folder / f"{shape.partitions}", shape)
        copied = [one.copied for one in rounds if one.copied is not None]
        copied_back = [one.copied_back for one in rounds if one.copied_back is not None]
        yield _line(shape, "publication", copied, [one.published for one in rounds])
        yield _line(shape, "rollback", copied_back, [one.rolled_back for one in rounds])


def _rounds(spark: SparkSession, folder: Path, shape: Shape) -> list[Round]:
    """Each replaces all partitions that a first run filled, and takes that back."""
    platform, copy = open_world(folder), folder / "copy"
    first = _stage(platform, spark, shape, "first")
    publish_chunk(platform, first, shape.days)
    rows = _read(spark, platform.warehouse.table_path(TABLE))
    rows.write.format("delta").partitionBy("day").save(str(copy))
    return [_round(platform, spark, shape, copy, number) for number in range(ROUNDS)]


def _round(platform: Platform, spark: SparkSession, shape: Shape, copy: Path, number: int) -> Round:
    run_id = _stage(platform, spark, shape, f"round {number}")
    target = platform.warehouse.table_path(TABLE)
    staged = _read(spark, platform.warehouse.staging_path(TABLE, run_id))
    former = _read(spark, copy, version=DeltaTable(copy).version())
    published = _timed(lambda: publish_chunk(platform, run_id, shape.days))
    copied = _copy(staged, copy, target, shape, number)
    rolled_back = _timed(lambda: _roll_back(platform, run_id))
    copied_back = _copy(former, copy, target, shape, number)
    return Round(
        published=published, copied=copied, rolled_back=rolled_back, copied_back=copied_back
    )


def _stage(platform: Platform, spark: SparkSession, shape: Shape, origin: str) -> RunId:
    land(platform, shape.days, rows_each=shape.rows_each, said=origin)
    run_id = open_run(platform, intent(origin, shape.days)).run_id
    stage_chunk(platform, spark, run_id, shape.days)
    return run_id


def _roll_back(platform: Platform, run_id: RunId) -> None:
    request = RollbackRequest(
        run_id=run_id, days=None, reason="a benchmark", requested_by="benchmarks"
    )
    roll_back(platform, plan_rollback(platform, request).run_id)


def _copy(rows: DataFrame, copy: Path, target: Path, shape: Shape, number: int) -> float | None:
    """Afterwards both tables have to hold the same."""
    if number >= shape.copied_rounds:
        return None
    writer = rows.write.format("delta").mode("overwrite")
    replacing = writer.option("replaceWhere", replace_where("day", shape.days))
    seconds = _timed(lambda: replacing.save(str(copy)))
    if _content(rows.sparkSession, copy) != _content(rows.sparkSession, target):
        raise AssertionError(f"{copy} and {target} hold different rows")
    return seconds


def _read(spark: SparkSession, path: Path, *, version: int | None = None) -> DataFrame:
    reader = spark.read.format("delta")
    return (reader if version is None else reader.option("versionAsOf", version)).load(str(path))


def _content(spark: SparkSession, path: Path) -> tuple[object, ...]:
    hashed = F.xxhash64("day", "id", "text").cast("decimal(38,0)")
    rows = _read(spark, path)
    return tuple(rows.agg(F.count(F.lit(1)), F.sum(hashed)).collect()[0])


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _line(shape: Shape, what: str, copied: list[float], taken: list[float]) -> str:
    cells = (
        f"{shape.partitions:,}",
        f"{shape.partitions * shape.rows_each:,}",
        what,
        f"{min(copied):.1f} s, {median(copied):.1f} s",
        f"{min(taken):.2f} s, {median(taken):.2f} s",
        f"{median(copied) / median(taken):,.0f}",
    )
    return f"| {' | '.join(cells)} |"
