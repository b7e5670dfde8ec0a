"""What `class_archive` has Spark do, so that Java meets the classes that a run needs.

A script and no module: whoever starts it has put every option beside it.
"""

import sys
from pathlib import Path

from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F


def _land(spark: SparkSession, folder: Path) -> None:
    rows = spark.range(10_000).selectExpr(
        "id",
        "date_add(DATE'2026-01-01', cast(id % 3 AS int)) AS day",
        "concat('case ', id % 500) AS name",
        "timestamp_seconds(id) AS at",
        "id % 10 = 0 AS is_last",
    )
    rows.write.partitionBy("day").parquet(str(folder))


def _compute(spark: SparkSession, landed: Path) -> None:
    rows = spark.read.parquet(str(landed)).where("day >= DATE'2026-01-01'")
    numbered = Window.partitionBy("day", "name").orderBy("id")
    written = rows.select("*", F.row_number().over(numbered).alias("place"))
    target = str(landed.with_name("table"))
    for _ in range(2):
        writer = written.write.format("delta").partitionBy("day").mode("overwrite")
        writer.option("replaceWhere", "day >= DATE'2026-01-01'").save(target)


def _measure(spark: SparkSession, target: Path) -> None:
    rows = spark.read.format("delta").load(str(target))
    flags = rows.groupBy("day").agg(
        F.count(F.lit(1)).alias("rows"),
        F.bit_xor(F.xxhash64(*rows.columns)).alias("content"),
        F.count_if(F.col("at").isNull() | ~F.col("name").rlike("^case")).alias("failing"),
    )
    cases = rows.groupBy("day", "name").agg(
        F.max_by(F.struct("at", "is_last"), F.struct("id", "place")).alias("last"),
        F.array_sort(F.collect_list(F.struct("id", "at"))).alias("events"),
    )
    cases = cases.selectExpr("day", "name", "last.at", "explode(transform(events, e -> e.id)) AS n")
    joined = cases.join(rows.select("day", "name", "id"), ["day", "name"], "left")
    joined.groupBy("day").agg(F.sum("n").alias("sum")).join(flags, "day").orderBy("day").toArrow()
    joined.explain(mode="extended")


def _exercise(folder: Path) -> None:
    spark = SparkSession.builder.getOrCreate()
    _land(spark, folder / "landed")
    _compute(spark, folder / "landed")
    _measure(spark, folder / "table")
    spark.stop()


if __name__ == "__main__":
    _exercise(Path(sys.argv[1]))
