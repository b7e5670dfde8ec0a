"""bronze.case_events: a day's deliveries as they arrived, typed, with nothing left out.

A loaded day is a fact, so exact duplicates stay and are told apart by `delivery`, their number
among identical rows. Two *different* rows of one event and source version both get number 1: they
break the key, and the gate on unique keys stops the day.
"""

from datetime import date, timedelta
from decimal import Decimal

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from backfill_platform.domain.quality import (
    ROW_COUNT,
    ChangeBound,
    InstantBound,
    Quality,
    Tolerance,
)
from backfill_platform.domain.tables import FileSource, Input, Reconciliation, TableSpec
from backfill_platform.domain.transforms import Frames, TransformContext, TransformVersion
from backfill_platform.enforcement.contracts import CaseEvents, LandedCaseEvents
from backfill_platform.enforcement.daily import one_row_per_day, within

LANDED = "landing.case_events"
FIRST_DAY = date(2024, 12, 1)

_CONTENT = (
    "event_id",
    "source_version",
    "case_id",
    "jurisdiction",
    "case_class",
    "event_type",
    "occurred_at",
    "effective_at",
    "op",
    "emitted_at",
    "payload",
)


def load_case_events(frames: Frames, context: TransformContext) -> DataFrame:
    landed = within(frames.inputs[LANDED], "arrival_date", context.publish_days)
    # Rows of one window are identical in every column, so their order cannot change the result.
    identical = Window.partitionBy("arrival_date", "event_id", "source_version", _digest()).orderBy(
        "event_id"
    )
    return landed.select(
        "arrival_date", *_CONTENT, F.row_number().over(identical).alias("delivery")
    )


def _digest() -> Column:
    # xxhash64 skips nulls; the flags keep (null, "a") apart from ("a", null).
    content = [F.col(name) for name in _CONTENT]
    return F.xxhash64(*content, *(column.isNull() for column in content))


def _count_landed(frames: Frames, context: TransformContext) -> DataFrame:
    landed = within(frames.inputs[LANDED], "arrival_date", context.publish_days)
    counts = landed.groupBy("arrival_date").agg(F.count(F.lit(1)).alias("rows_arrived"))
    return one_row_per_day(counts, "arrival_date", context.publish_days)


CASE_EVENTS_LANDING = FileSource(
    name=LANDED,
    path="case_events",
    day_column="arrival_date",
    start=FIRST_DAY,
    schema=LandedCaseEvents,
    owner="case-intake",
    description="Case events as the jurisdictions' systems deliver them, by day of arrival.",
)

# Nothing arrives more than three weeks late, and nothing that has not happened yet: a system that
# sends its local time as UTC gives itself away where its day begins before ours.
LATEST = timedelta(days=22)
END_OF_DAY = timedelta(days=1)

_QUALITY = Quality(
    rows_least=100,
    rows_most=20_000_000,
    instants=(
        InstantBound(column="occurred_at", earliest=-LATEST, latest=END_OF_DAY),
        InstantBound(
            column="emitted_at", earliest=-LATEST, latest=END_OF_DAY + timedelta(minutes=1)
        ),
        # An amendment moves the effect of a decision by days, either way.
        InstantBound(
            column="effective_at",
            earliest=-LATEST - timedelta(days=4),
            latest=END_OF_DAY + timedelta(days=2),
        ),
    ),
    # A loaded day is a fact: whoever loads it again with other rows has to say why.
    changes=(ChangeBound(measure=ROW_COUNT, fall_percent=Decimal(0), rise_percent=Decimal(0)),),
    late_rows=Tolerance(),
)

CASE_EVENTS = TableSpec(
    layer="bronze",
    name="case_events",
    partition_column="arrival_date",
    start=FIRST_DAY,
    keys=("arrival_date", "event_id", "source_version", "delivery"),
    schema=CaseEvents,
    inputs=(Input(name=LANDED),),
    transform_name="case-events-load",
    transforms=(
        TransformVersion(
            version="1.0.0",
            function=load_case_events,
            released_on=FIRST_DAY,
            note="Rows as they arrived; identical deliveries are numbered.",
            ties="Rows that are numbered together are identical in every column.",
        ),
    ),
    chunk_days=92,
    reconciliation=Reconciliation(
        from_inputs=_count_landed, from_output={"rows_arrived": "count(1)"}
    ),
    quality=_QUALITY,
    fresh_within_hours=36,
    owner="case-intake",
    description="Case events by day of arrival: a loaded day is a fact and does not change.",
)
