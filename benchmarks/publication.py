"""Publishing staged partitions: one commit of metadata against copying them with Spark.

Both publish the same staged rows into an equal target, in the same warm session, and both outcomes
are read and compared. The publisher's time includes all its checks; the ledger is not in it.
"""

import time
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from statistics import median

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from rich.table import Table

from backfill_platform.domain.contracts import Column, Contract
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.publications import EMPTY_PARTITION, Publication
from backfill_platform.lakehouse.delta_tables import (
    create_staging_table,
    create_table,
    staged_files,
)
from backfill_platform.lakehouse.reading import replace_where
from backfill_platform.publisher.replace_partitions import publish

START = date(2020, 1, 1)
ROUNDS = 3
SHAPES = ((30, 100_000), (365, 5_000))  # partitions, rows in each
CONTRACT = Contract(
    columns=(
        Column(name="day", type="date", is_nullable=False),
        Column(name="id", type="long", is_nullable=False),
        Column(name="text", type="string", is_nullable=True),
    ),
    checks=(),
)


def compare_publication(spark: SparkSession, folder: Path) -> Table:
    table = Table(title=f"Publication, median of {ROUNDS} rounds", title_justify="left")
    for name in ("partitions", "rows", "copy with Spark", "one commit", "ratio"):
        table.add_column(name, justify="right")
    for partitions, rows_each in SHAPES:
        rounds = [
            _round(spark, folder / f"{partitions}-{number}", partitions, rows_each)
            for number in range(ROUNDS)
        ]
        copied, committed = (median(times) for times in zip(*rounds, strict=True))
        table.add_row(
            f"{partitions:,}",
            f"{partitions * rows_each:,}",
            f"{copied:.2f} s",
            f"{committed * 1000:.0f} ms",
            f"{copied / committed:,.0f} x",
        )
    return table


def _round(
    spark: SparkSession, folder: Path, partitions: int, rows_each: int
) -> tuple[float, float]:
    days = DayRange(START, START + timedelta(days=partitions))
    target, copy, staging = folder / "target", folder / "copy", folder / "target" / "runs" / "run"
    for path in (target, copy):
        create_table(path, CONTRACT, partition_column="day", extra_columns=())
    create_staging_table(staging, CONTRACT, partition_column="day", extra_columns=())
    _rows(spark, partitions, rows_each).write.format("delta").mode("append").save(str(staging))
    copied = _timed(lambda: _copy(spark, staging, copy, days))
    committed = _timed(lambda: _commit(staging, target, days))
    if _content(spark, copy) != _content(spark, target):
        raise AssertionError("copying and committing published different rows")
    return copied, committed


def _rows(spark: SparkSession, partitions: int, rows_each: int) -> DataFrame:
    number = F.col("id")
    return spark.range(partitions * rows_each).select(
        F.date_add(F.lit(START), (number / rows_each).cast("int")).alias("day"),
        number,
        F.concat(F.lit("row "), number.cast("string")).alias("text"),
    )


def _copy(spark: SparkSession, staging: Path, target: Path, days: DayRange) -> None:
    (
        spark.read.format("delta")
        .load(str(staging))
        .write.format("delta")
        .mode("overwrite")
        .option("replaceWhere", replace_where("day", days))
        .save(str(target))
    )


def _commit(staging: Path, target: Path, days: DayRange) -> None:
    publication = Publication(
        publication_id="run",
        table="bench.target",
        partition_column="day",
        days=tuple(days),
        files=staged_files(staging, PartitionSet.of_range(days)),
        base=dict.fromkeys(days, EMPTY_PARTITION),
        commit_info={"run_id": "run"},
    )
    publish(target, staging, publication)


def _content(spark: SparkSession, path: Path) -> tuple[object, ...]:
    hashed = F.xxhash64("day", "id", "text").cast("decimal(38,0)")
    rows = spark.read.format("delta").load(str(path))
    return tuple(rows.agg(F.count(F.lit(1)), F.sum(hashed)).collect()[0])


def _timed(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
