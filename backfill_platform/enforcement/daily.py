"""Frames by day, as every table of this domain needs them."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.partitions import DayRange


def within(frame: DataFrame, column: str, days: DayRange) -> DataFrame:
    day = F.col(column)
    return frame.where((day >= F.lit(days.start)) & (day < F.lit(days.end_exclusive)))


def one_row_per_day(totals: DataFrame, column: str, days: DayRange) -> DataFrame:
    """A day without rows has totals of zero, which is a statement; a missing row is none."""
    every_day = totals.sparkSession.range(len(days)).select(
        F.date_add(F.lit(days.start), F.col("id").cast("int")).alias(column)
    )
    return every_day.join(totals, column, "left").na.fill(0)
