"""One table for each way of publishing, over the tiny domain of `readings`: declarations for tests.

landing.readings ─► bronze.readings   REPLACE_PARTITIONS, as everywhere else
                 ─► silver.once       APPEND_ONLY
                 ─► silver.latest     MERGE_BY_KEY
                 ─► silver.whole      REPLACE_PARTITIONS, each run in one commit
                 ─► silver.swapped    SHADOW_SWAP
"""

import pandera.pyspark as pa
import pyspark.sql.types as T
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.catalog import Declarations
from backfill_platform.domain.modes import LiveConflicts, PublishMode, PublishScope
from backfill_platform.domain.tables import Input, KeyedMerge, Reconciliation, TableSpec
from backfill_platform.domain.transforms import Frames, TransformContext, TransformVersion
from backfill_platform_tests import readings
from backfill_platform_tests.readings import LANDING, START, Readings

ONCE, LATEST = "silver.once", "silver.latest"
WHOLE, SWAPPED = "silver.whole", "silver.swapped"


class Latest(pa.DataFrameModel):
    day: T.DateType = pa.Field(nullable=False)
    meter: T.StringType = pa.Field(nullable=False)
    amount: T.LongType = pa.Field(nullable=False, ge=0)
    revision: T.LongType = pa.Field(nullable=False)
    operation: T.StringType = pa.Field(nullable=False, isin=["UPSERT", "DELETE"])


def read_changes(frames: Frames, context: TransformContext) -> DataFrame:
    """What lands as 31 is revision 3 of the amount 1; what lands as 30 is its deletion."""
    landed, days = frames.inputs[LANDING], context.publish_days
    amount = F.col("amount") % 10
    return landed.where(F.col("day").between(days.start, days.last)).select(
        "day",
        "meter",
        amount.alias("amount"),
        F.floor(F.col("amount") / 10).alias("revision"),
        F.when(amount == 0, "DELETE").otherwise("UPSERT").alias("operation"),
    )


def count_keys(frames: Frames, context: TransformContext) -> DataFrame:
    """What the days held and what landed: a merge loses no key and makes none up."""
    changed = read_changes(frames, context).select("day", "meter")
    known = changed.union(frames.base.select("day", "meter")).distinct()
    return known.groupBy("day").agg(F.count("*").alias("rows"))


def _table(name: str, mode: PublishMode, **declared) -> TableSpec:
    given = {
        "layer": "silver",
        "name": name,
        "partition_column": "day",
        "start": START,
        "keys": ("day", "meter"),
        "schema": Readings,
        "inputs": (Input(name=LANDING),),
        "transform_name": f"read-{name}",
        "transforms": (_version(readings.load),),
        "reconciliation": Reconciliation(
            from_inputs=readings.count_landed, from_output={"rows": "count(*)"}
        ),
        "owner": "meters",
        "description": f"Readings, published by {mode}.",
        "publish_mode": mode,
        "chunk_days": 5,
    }
    return TableSpec(**(given | declared))


def _version(function) -> TransformVersion:
    return TransformVersion(version="1.0.0", function=function, released_on=START, note="tests")


DECLARATIONS = Declarations(
    sources=(readings.READINGS,),
    references=(),
    tables=(
        readings.DECLARATIONS.tables[0],
        _table("once", PublishMode.APPEND_ONLY, may_be_empty=True),
        _table(
            "latest",
            PublishMode.MERGE_BY_KEY,
            schema=Latest,
            merge=KeyedMerge(version_column="revision", operation_column="operation"),
            live_conflicts=LiveConflicts.MERGE_BY_VERSION,
            transforms=(_version(read_changes),),
            reconciliation=Reconciliation(from_inputs=count_keys, from_output={"rows": "count(*)"}),
        ),
        _table("whole", PublishMode.REPLACE_PARTITIONS, publish_scope=PublishScope.WHOLE_RUN),
        _table("swapped", PublishMode.SHADOW_SWAP),
    ),
)
