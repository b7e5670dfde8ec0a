"""gold.sla_breaches_daily: open, overdue and paused cases by jurisdiction and case class.

A case is newly breached on a day if it was not so, or not there, on the day before; that day is
read as warm-up and never published.
"""

from datetime import date
from decimal import Decimal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.partitions import Boundary
from backfill_platform.domain.quality import ChangeBound, Quality, Relation
from backfill_platform.domain.tables import Input, Reconciliation, TableSpec
from backfill_platform.domain.transforms import Frames, TransformContext, TransformVersion
from backfill_platform.enforcement.bronze import FIRST_DAY
from backfill_platform.enforcement.contracts import SlaBreachesDaily
from backfill_platform.enforcement.daily import within
from backfill_platform.enforcement.lifecycle import CASE_CLASSES, JURISDICTIONS, CaseState

CASES = "silver.case_sla_daily"
_GROUP = ("business_date", "jurisdiction", "case_class")


def sla_breaches_daily(frames: Frames, context: TransformContext) -> DataFrame:
    days = context.publish_days
    cases = within(frames.inputs[CASES], "business_date", days)
    counts = cases.groupBy(*_GROUP).agg(*_counts())
    newly = (
        _newly_breached(frames, context)
        .groupBy(*_GROUP)
        .agg(F.count(F.lit(1)).alias("newly_breached"))
    )
    return counts.join(newly, list(_GROUP), "left").select(
        *_GROUP,
        "open_cases",
        "breached_cases",
        F.coalesce("newly_breached", F.lit(0).cast("bigint")).alias("newly_breached"),
        "paused_cases",
    )


def _newly_breached(frames: Frames, context: TransformContext) -> DataFrame:
    """Only breached rows take part in the comparison with the day before; they are few."""
    days = context.publish_days.widen(before_days=context.windows[CASES].before_days)
    breached = within(frames.inputs[CASES], "business_date", days).where("is_breached")
    the_day_after = breached.select(
        F.date_add("business_date", 1).alias("business_date"), "case_id"
    )
    return within(breached, "business_date", context.publish_days).join(
        the_day_after, ["business_date", "case_id"], "left_anti"
    )


def _counts() -> list[Column]:
    return [
        F.count_if(F.col("state") != CaseState.CLOSED.value).alias("open_cases"),
        F.count_if("is_breached").alias("breached_cases"),
        F.count_if(F.col("state") == CaseState.PAUSED.value).alias("paused_cases"),
    ]


def _sum_cases(frames: Frames, context: TransformContext) -> DataFrame:
    cases = within(frames.inputs[CASES], "business_date", context.publish_days)
    return cases.groupBy("business_date", "jurisdiction").agg(*_counts())


_QUALITY = Quality(
    rows_least=len(JURISDICTIONS),
    rows_most=len(JURISDICTIONS) * len(CASE_CLASSES),
    relations=(Relation(name="cases", columns=_GROUP, to=CASES),),
    changes=(
        ChangeBound(
            measure="breached_cases",
            fall_percent=Decimal(30),
            rise_percent=Decimal(40),
            per=Boundary.MONTH,
            at_least=Decimal(20),
        ),
    ),
)


SLA_BREACHES_DAILY = TableSpec(
    layer="gold",
    name="sla_breaches_daily",
    partition_column="business_date",
    start=FIRST_DAY,
    keys=_GROUP,
    schema=SlaBreachesDaily,
    inputs=(Input(name=CASES, warm_up_days=1),),
    transform_name="sla-breaches-transform",
    transforms=(
        TransformVersion(
            version="1.0.0",
            function=sla_breaches_daily,
            released_on=date(2024, 11, 4),
            note="Counts of open, breached, newly breached and paused cases.",
        ),
    ),
    chunk_days=92,
    reconciliation=Reconciliation(
        from_inputs=_sum_cases,
        from_output={
            "open_cases": "sum(open_cases)",
            "breached_cases": "sum(breached_cases)",
            "paused_cases": "sum(paused_cases)",
        },
        by=("jurisdiction",),
    ),
    quality=_QUALITY,
    fresh_within_hours=36,
    owner="regulatory-reporting",
    description="Daily counts of open, breached, newly breached and paused enforcement cases.",
)
