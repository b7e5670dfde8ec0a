"""A tiny domain for tests of the engine and of Dagster: readings land, are loaded and summed.

landing.readings ─► bronze.readings ─► silver.totals   (reads one day of warm-up, one late day)
"""

from collections.abc import Iterable
from datetime import date
from pathlib import Path

import pandera.pyspark as pa
import pyarrow as arrow
import pyarrow.parquet as parquet
import pyspark.sql.types as T
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.catalog import Declarations
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.tables import FileSource, Input, Reconciliation, TableSpec
from backfill_platform.domain.transforms import Frames, TransformContext, TransformVersion

START = date(2025, 1, 1)
LANDING, BRONZE, SILVER = "landing.readings", "bronze.readings", "silver.totals"


class Readings(pa.DataFrameModel):
    day: T.DateType = pa.Field(nullable=False)
    meter: T.StringType = pa.Field(nullable=False, isin=["a", "b", "c"])
    amount: T.LongType = pa.Field(nullable=False, ge=0)


class Totals(pa.DataFrameModel):
    day: T.DateType = pa.Field(nullable=False)
    meter: T.StringType = pa.Field(nullable=False)
    total: T.LongType = pa.Field(nullable=False)


def _own_days(frames: Frames, name: str, context: TransformContext) -> DataFrame:
    days = context.publish_days
    return frames.inputs[name].where(F.col("day").between(days.start, days.last))


def load(frames: Frames, context: TransformContext) -> DataFrame:
    return _own_days(frames, LANDING, context).select("day", "meter", "amount")


def total(frames: Frames, context: TransformContext, *, factor: int = 1) -> DataFrame:
    """The amounts of a day and of those around it that its window allows, by meter."""
    window = context.windows[BRONZE]
    days = [(day,) for day in context.publish_days]
    readings = frames.inputs[BRONZE]
    wanted = readings.sparkSession.createDataFrame(days, "out date")
    near = F.col("day").between(
        F.date_sub("out", window.before_days), F.date_add("out", window.after_days)
    )
    return (
        readings.join(F.broadcast(wanted), near)
        .groupBy(F.col("out").alias("day"), "meter")
        .agg((F.sum("amount") * factor).alias("total"))
    )


def total_doubled(frames: Frames, context: TransformContext) -> DataFrame:
    return total(frames, context, factor=2)


def count_landed(frames: Frames, context: TransformContext) -> DataFrame:
    return _own_days(frames, LANDING, context).groupBy("day").agg(F.count("*").alias("rows"))


def count_meters(frames: Frames, context: TransformContext) -> DataFrame:
    summed = total(frames, context)
    return summed.groupBy("day").agg(F.count("*").alias("meters"))


READINGS = FileSource(
    name=LANDING,
    path="readings",
    day_column="day",
    start=START,
    schema=Readings,
    owner="meters",
    description="Readings as they land.",
)


def _version(version: str, function) -> TransformVersion:
    return TransformVersion(version=version, function=function, released_on=START, note="tests")


DECLARATIONS = Declarations(
    sources=(READINGS,),
    references=(),
    tables=(
        TableSpec(
            layer="bronze",
            name="readings",
            partition_column="day",
            start=START,
            keys=("day", "meter"),
            schema=Readings,
            inputs=(Input(name=LANDING),),
            transform_name="load-readings",
            transforms=(_version("1.0.0", load),),
            reconciliation=Reconciliation(
                from_inputs=count_landed, from_output={"rows": "count(*)"}
            ),
            owner="meters",
            description="Readings by day.",
            chunk_days=5,
        ),
        TableSpec(
            layer="silver",
            name="totals",
            partition_column="day",
            start=START,
            keys=("day", "meter"),
            schema=Totals,
            inputs=(Input(name=BRONZE, warm_up_days=1, late_days=1),),
            transform_name="total-readings",
            transforms=(_version("1.0.0", total), _version("2.0.0", total_doubled)),
            reconciliation=Reconciliation(
                from_inputs=count_meters, from_output={"meters": "count(*)"}
            ),
            owner="meters",
            description="Totals by day and meter.",
            chunk_days=5,
        ),
    ),
)


def land(
    landing: Path, days: Iterable[date], rows: Iterable[tuple[str, int]] = (("a", 1), ("b", 2))
):
    """One file a day with these rows, replacing what stood there."""
    meters, amounts = zip(*rows, strict=True)
    for day in days:
        folder = landing / "readings" / f"day={day}"
        folder.mkdir(parents=True, exist_ok=True)
        table = arrow.table({"meter": list(meters), "amount": arrow.array(amounts, arrow.int64())})
        parquet.write_table(table, folder / "readings.parquet")


def week(start: date = START, days: int = 7) -> DayRange:
    return DayRange(start, start.fromordinal(start.toordinal() + days))
