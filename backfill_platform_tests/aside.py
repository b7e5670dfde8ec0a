"""Tables whose transform sets rows aside, over the tiny domain of `readings`.

landing.readings ─► silver.careful   without negative amounts, whose rows are set aside
                 ─► silver.guarded   the same, without the meters of landing.forgotten, and with
                                     masked phones
                 ─► silver.suspect   as landed, with a rule for everything that may be wrong
"""

from datetime import timedelta

import pandera.pyspark as pa
import pyspark.sql.types as T
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.catalog import Declarations
from backfill_platform.domain.modes import Classification
from backfill_platform.domain.privacy import Mask, Privacy
from backfill_platform.domain.quality import InstantBound, Quality, Relation
from backfill_platform.domain.tables import Input, Reconciliation, TableSpec
from backfill_platform.domain.transforms import (
    Computed,
    Frames,
    TransformContext,
    TransformVersion,
)
from backfill_platform_tests.modes import FORGOTTEN
from backfill_platform_tests.readings import LANDING, READINGS, START, Readings

CAREFUL, GUARDED, SUSPECT = "silver.careful", "silver.guarded", "silver.suspect"
NEGATIVE = "negative amount"


class Reachable(pa.DataFrameModel):
    day: T.DateType = pa.Field(nullable=False)
    meter: T.StringType = pa.Field(nullable=False)
    amount: T.LongType = pa.Field(nullable=False, ge=0)
    phone: T.StringType = pa.Field(nullable=True)


class Suspicious(Reachable):
    partner: T.StringType = pa.Field(nullable=True)
    read_at: T.TimestampType = pa.Field(nullable=True)
    phone: T.StringType = pa.Field(nullable=True, str_length={"max_value": 3})

    class Config:
        unique = ("meter", "amount")


def own_days(frames: Frames, context: TransformContext) -> DataFrame:
    days = context.publish_days
    return frames.inputs[LANDING].where(F.col("day").between(days.start, days.last))


def set_negative_aside(frames: Frames, context: TransformContext) -> Computed:
    landed = own_days(frames, context)
    return Computed(
        rows=landed.where("amount >= 0").select("day", "meter", "amount"),
        rejects=landed.where("amount < 0")
        .withColumn("reject_reason", F.lit(f" {NEGATIVE} "))
        .withColumn("read", F.struct("meter", "amount")),
    )


def set_phones_aside(frames: Frames, context: TransformContext) -> Computed:
    """What it sets aside holds a phone, and the whole line in a column that nobody declared."""
    number = F.concat(F.lit("+49 30 "), F.abs("amount") * 1000)
    landed = own_days(frames, context).withColumn("phone", number)
    return Computed(
        rows=landed.where("amount >= 0").select("day", "meter", "amount", "phone"),
        rejects=landed.where("amount < 0")
        .withColumn("reject_reason", F.lit(NEGATIVE))
        .withColumn("line", F.concat_ws(",", "meter", "phone")),
    )


def read_suspects(frames: Frames, context: TransformContext) -> Computed:
    """`b` has a partner whom nobody knows and a phone; an amount is the hour of its reading."""
    landed, is_b = own_days(frames, context), F.col("meter") == "b"
    return Computed(
        rows=landed.where("amount IS NULL OR amount < 99")
        .withColumn("phone", F.when(is_b, "+49 30 123"))
        .withColumn("partner", F.when(is_b, "nobody"))
        .withColumn("read_at", F.expr("CAST(day AS TIMESTAMP) + make_interval(0,0,0,0,amount)"))
        .select("day", "meter", "amount", "phone", "partner", "read_at"),
        rejects=landed.where("amount = 99").withColumn("reject_reason", F.lit("full")),
    )


def count_positive(frames: Frames, context: TransformContext) -> DataFrame:
    landed = own_days(frames, context).where("amount >= 0")
    return landed.groupBy("day").agg(F.count("*").alias("rows"))


def _table(name: str, function, **declared) -> TableSpec:
    return TableSpec(
        layer="silver",
        name=name,
        partition_column="day",
        start=START,
        keys=("day", "meter"),
        inputs=(Input(name=LANDING),),
        transform_name=f"read-{name}",
        transforms=(
            TransformVersion(version="1.0.0", function=function, released_on=START, note="tests"),
        ),
        reconciliation=Reconciliation(from_inputs=count_positive, from_output={"rows": "count(*)"}),
        owner="meters",
        description="Readings, as far as they can be read.",
        chunk_days=5,
        may_be_empty=True,
        **declared,
    )


DECLARATIONS = Declarations(
    sources=(READINGS,),
    references=(),
    tables=(
        _table("careful", set_negative_aside, schema=Readings, quality=Quality(rejects_most=1)),
        _table(
            "guarded",
            set_phones_aside,
            schema=Reachable,
            quality=Quality(rejects_most=9),
            privacy=Privacy(
                subject_column="meter",
                deletions=FORGOTTEN.name,
                column_classes={"phone": Classification.RESTRICTED},
                masks={"phone": Mask.LAST_FOUR},
            ),
        ),
        _table(
            "suspect",
            read_suspects,
            schema=Suspicious,
            quality=Quality(
                relations=(
                    Relation(
                        name="known partner",
                        columns=("partner",),
                        to=LANDING,
                        to_columns=("meter",),
                    ),
                ),
                instants=(
                    InstantBound(column="read_at", earliest=timedelta(0), latest=timedelta(days=1)),
                ),
            ),
            privacy=Privacy(
                column_classes={"phone": Classification.RESTRICTED},
                masks={"phone": Mask.LAST_FOUR},
            ),
        ),
    ),
    deletions=(FORGOTTEN,),
)
