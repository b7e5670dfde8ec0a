"""Reads of Delta tables by Spark: always of a pinned version, always of a bounded range of days.

Of a table that keeps every version of its output the latest is read: what consumers saw then.
"""

from datetime import date
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.lakehouse.latest import latest_frame


def read_pinned(
    spark: SparkSession, path: Path, version: int, partition_column: str, days: DayRange
) -> DataFrame:
    frame = latest_frame(spark, path, version=version, days=PartitionSet.of_range(days))
    return frame.where(within(partition_column, days))


def read_latest(
    spark: SparkSession, path: Path, partition_column: str, days: DayRange
) -> DataFrame:
    """For a run's own staging table only, which nobody else writes."""
    return spark.read.format("delta").load(str(path)).where(within(partition_column, days))


def in_columns_of(rows: DataFrame, other: DataFrame) -> DataFrame:
    """What was written before the columns changed, in the columns of now: null where there was no
    such column, or where its value does not fit."""
    return rows.select(
        *(
            (F.col(field.name) if field.name in rows.columns else F.lit(None))
            .try_cast(field.dataType)
            .alias(field.name)
            for field in other.schema.fields
        )
    )


def within(partition_column: str, days: DayRange) -> Column:
    """A filter on the bare column, so that Delta skips every other partition."""
    column = F.col(partition_column)
    return (column >= F.lit(days.start)) & (column < F.lit(days.end_exclusive))


def on_days(partition_column: str, days: PartitionSet | None) -> Column:
    """The same for days with gaps; flat, because a tree of ORs over years would be too deep."""
    return F.col(partition_column).isin(*(days or ()))


def replace_where(partition_column: str, days: DayRange) -> str:
    return (
        f"{partition_column} >= {_literal(days.start)}"
        f" AND {partition_column} < {_literal(days.end_exclusive)}"
    )


def _literal(day: date) -> str:
    return f"DATE'{day.isoformat()}'"
