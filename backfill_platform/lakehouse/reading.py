"""Reads of Delta tables by Spark: always of a pinned version, always of a bounded range of days.

Of a table that keeps every version of its output the latest is read: what consumers saw then.
"""

import json
from datetime import date
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from backfill_platform.domain.errors import EngineUnavailable
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.lakehouse.delta_tables import open_table, state_of
from backfill_platform.lakehouse.latest import latest_frame


def read_pinned(
    spark: SparkSession, path: Path, version: int, partition_column: str, days: DayRange
) -> DataFrame:
    frame = latest_frame(spark, path, version=version, days=PartitionSet.of_range(days))
    return frame.where(within(partition_column, days))


def read_own(spark: SparkSession, path: Path, days: DayRange) -> DataFrame:
    """A table that one run alone writes: the files that its log names, which is looked at here and
    not by Spark, as Delta would have it for every scan of a plan. A table of which files are not
    all there is to know is not let in (`delta_protocol`)."""
    table = open_table(path)
    if table is None:
        raise EngineUnavailable(f"{path}: there is no Delta table; check the storage")
    schema = StructType.fromJson(json.loads(table.schema().to_json()))
    held = state_of(table, path, PartitionSet.of_range(days)).files
    files = [str(path / file.path) for of_day in held.values() for file in of_day]
    if not files:
        return spark.createDataFrame([], schema)
    return (
        spark.read.schema(schema)
        .option("basePath", str(path))
        .parquet(*files)
        .select(*schema.names)  # Spark puts what partitions the table last
    )


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
