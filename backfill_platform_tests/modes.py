"""One table for each way of publishing, over the tiny domain of `readings`: declarations for tests.

landing.readings ─► bronze.readings   REPLACE_PARTITIONS, as everywhere else
                 ─► silver.once       APPEND_ONLY
                 ─► silver.latest     MERGE_BY_KEY
                 ─► silver.numbered   VERSIONED by output_version
                 ─► silver.dated      VERSIONED by as_of_date ─► silver.dated_sums
                 ─► silver.whole      REPLACE_PARTITIONS, each run in one commit
                 ─► silver.swapped    SHADOW_SWAP
                 ─► silver.totals ─► silver.totals_corrections
                 ─► silver.private            without the meters of landing.forgotten
                 ─► silver.private_latest     MERGE_BY_KEY, without them and with masked phones
"""

from pathlib import Path

import pandera.pyspark as pa
import pyspark.sql.types as T
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from backfill_platform.corrections.declare import corrections_of
from backfill_platform.domain.catalog import Declarations
from backfill_platform.domain.modes import (
    Classification,
    LiveConflicts,
    PublishMode,
    PublishScope,
    VersionColumn,
)
from backfill_platform.domain.privacy import DeletionList, Mask, Privacy
from backfill_platform.domain.tables import Input, KeyedMerge, Reconciliation, TableSpec
from backfill_platform.domain.transforms import Frames, TransformContext, TransformVersion
from backfill_platform_tests import readings
from backfill_platform_tests.readings import LANDING, START, Readings

ONCE, LATEST = "silver.once", "silver.latest"
NUMBERED, DATED, DATED_SUMS = "silver.numbered", "silver.dated", "silver.dated_sums"
WHOLE, SWAPPED = "silver.whole", "silver.swapped"
TOTALS, TOTALS_CORRECTIONS = "silver.totals", "silver.totals_corrections"
PRIVATE, PRIVATE_LATEST = "silver.private", "silver.private_latest"
FORGOTTEN = DeletionList(
    name="landing.forgotten", path="forgotten", owner="privacy", description="Who asked for it."
)


class Latest(pa.DataFrameModel):
    day: T.DateType = pa.Field(nullable=False)
    meter: T.StringType = pa.Field(nullable=False)
    amount: T.LongType = pa.Field(nullable=False, ge=0)
    revision: T.LongType = pa.Field(nullable=False)
    operation: T.StringType = pa.Field(nullable=False, isin=["UPSERT", "DELETE"])


class Reachable(Latest):
    phone: T.StringType = pa.Field(nullable=True)


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


def read_phones(frames: Frames, context: TransformContext) -> DataFrame:
    number = F.concat(F.lit("+49 30 "), F.ascii("meter") * 1000)
    return read_changes(frames, context).withColumn("phone", number)


def count_keys(frames: Frames, context: TransformContext) -> DataFrame:
    """What the days held and what landed: a merge loses no key and makes none up."""
    changed = read_changes(frames, context).select("day", "meter")
    known = changed.union(frames.base.select("day", "meter")).distinct()
    return known.groupBy("day").agg(F.count("*").alias("rows"))


def sum_dated(frames: Frames, context: TransformContext) -> DataFrame:
    """Of each day one row, as if a single meter had been read."""
    days = context.publish_days
    dated = frames.inputs[DATED].where(F.col("day").between(days.start, days.last))
    return dated.groupBy("day").agg(F.lit("a").alias("meter"), F.sum("amount").alias("amount"))


def count_dated_days(frames: Frames, context: TransformContext) -> DataFrame:
    return sum_dated(frames, context).select("day", F.lit(1).alias("rows"))


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
        *readings.DECLARATIONS.tables,
        corrections_of(readings.DECLARATIONS.tables[1]),
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
        _table("numbered", PublishMode.VERSIONED, version_column=VersionColumn.OUTPUT_VERSION),
        _table("dated", PublishMode.VERSIONED, version_column=VersionColumn.AS_OF_DATE),
        _table(
            "dated_sums",
            PublishMode.REPLACE_PARTITIONS,
            inputs=(Input(name=DATED),),
            transforms=(_version(sum_dated),),
            reconciliation=Reconciliation(
                from_inputs=count_dated_days, from_output={"rows": "count(*)"}
            ),
        ),
        _table("whole", PublishMode.REPLACE_PARTITIONS, publish_scope=PublishScope.WHOLE_RUN),
        _table("swapped", PublishMode.SHADOW_SWAP),
        _table(
            "private",
            PublishMode.REPLACE_PARTITIONS,
            privacy=Privacy(subject_column="meter", deletions=FORGOTTEN.name),
        ),
        _table(
            "private_latest",
            PublishMode.MERGE_BY_KEY,
            schema=Reachable,
            merge=KeyedMerge(version_column="revision", operation_column="operation"),
            live_conflicts=LiveConflicts.MERGE_BY_VERSION,
            transforms=(_version(read_phones),),
            reconciliation=Reconciliation(from_inputs=count_keys, from_output={"rows": "count(*)"}),
            privacy=Privacy(
                subject_column="meter",
                deletions=FORGOTTEN.name,
                column_classes={"phone": Classification.RESTRICTED},
                masks={"phone": Mask.LAST_FOUR},
            ),
        ),
    ),
    deletions=(FORGOTTEN,),
)


def forget(landing: Path, *meters: str) -> None:
    """The list as it is from now on."""
    folder = landing / FORGOTTEN.path
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["subject,deleted_on", *(f"{meter},{START}" for meter in meters)]
    (folder / "list.csv").write_text("\n".join(lines) + "\n")
