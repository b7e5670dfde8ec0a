"""Reads each case's clock at the end of each business day on which the case is active.

One shuffle brings a case's events together; everything after it happens within the case's row.
"""

from collections.abc import Callable
from functools import partial

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.transforms import Frames, TransformContext
from backfill_platform.enforcement.jurisdiction_calendar import Jurisdiction
from backfill_platform.enforcement.lifecycle import CASE_CLASSES, CaseState
from backfill_platform.enforcement.sla.calendar_tables import EPOCH, ZoneOf, build_tables
from backfill_platform.enforcement.sla.lookups import DAY_MICROS, Lookups, floor_divide, utc_day
from backfill_platform.enforcement.sla.periods import fold_periods, period_starts, possible_days
from backfill_platform.enforcement.sla.versions import settle_versions, version_struct

EVENTS = "bronze.case_events"
CALENDAR = "jurisdiction_calendar"


def zone_of_jurisdiction(jurisdiction: Jurisdiction) -> str:
    return jurisdiction.time_zone


def zone_is_always_utc(jurisdiction: Jurisdiction) -> str:
    """The defect of 2.4.1: local dates and the midnight of the deadline reckoned in UTC."""
    return "UTC"


def case_sla(zone_of: ZoneOf) -> Callable[[Frames, TransformContext], DataFrame]:
    """A version of the transform; versions differ in nothing but whose midnight they take."""
    return partial(_case_sla_daily, zone_of)


def _case_sla_daily(zone_of: ZoneOf, frames: Frames, context: TransformContext) -> DataFrame:
    lookups = Lookups.of(build_tables(frames.references[CALENDAR], zone_of))
    periods = _case_periods(frames.inputs[EVENTS], lookups, context)
    days = periods.select("*", F.explode("period.days").alias("day"))
    return _read_clocks(days, lookups)


def _case_periods(events: DataFrame, lookups: Lookups, context: TransformContext) -> DataFrame:
    window = context.windows[EVENTS]
    first, last = (
        (day - EPOCH).days for day in (context.publish_days.start, context.publish_days.last)
    )
    versions = F.collect_list(version_struct(lookups, window)).alias("versions")
    cases = events.groupBy("case_id", "jurisdiction").agg(versions)
    ordered = F.array_sort(settle_versions(F.col("versions")))
    cases = cases.select("case_id", "jurisdiction", ordered.alias("events"))
    cases = cases.withColumn("possible", possible_days(F.col("events"), first, last))
    cases = cases.withColumn("starts", period_starts(F.col("events"), F.col("possible")))
    periods = fold_periods(F.col("events"), F.col("starts"), F.col("possible"))
    return cases.select("case_id", "jurisdiction", F.explode(periods).alias("period"))


def _read_clocks(days: DataFrame, lookups: Lookups) -> DataFrame:
    """Turns the state of a period into what holds at the end of one of its days."""
    state = F.col("period.state")
    day_end = (F.col("day") + 1).cast("bigint") * DAY_MICROS
    place = lookups.place(F.col("jurisdiction"))
    # A decision may have been given an instant that is still to come.
    decided_at = F.when(state["decided_at"] < day_end, state["decided_at"])
    ordinal_now = lookups.ordinal_at_end_of(F.col("day"), place)
    waited_days = F.coalesce(ordinal_now - state["evidence_ordinal"], F.lit(0))
    waited_micros = F.coalesce(day_end - state["evidence_at"], F.lit(0).cast("bigint"))
    read = days.select(
        "*",
        day_end.alias("day_end"),
        decided_at.alias("decided_at"),
        lookups.due_micros(state["deadline"] + waited_days, place).alias("due_at"),
        lookups.local_day(state["opened_at"], place).alias("opened_on"),
        (state["paused_days"] + waited_days).alias("paused_business_days"),
        (state["paused_micros"] + waited_micros).alias("paused_micros"),
    )
    day_start = F.col("day_end") - DAY_MICROS
    is_active = state["closed_at"].isNull() | (state["closed_at"] >= day_start)
    return read.where(state["opened_at"].isNotNull() & is_active).select(*_columns(state))


def _columns(state: Column) -> list[Column]:
    day_end, decided_at, due_at = F.col("day_end"), F.col("decided_at"), F.col("due_at")
    opened_at, closed_at = state["opened_at"], state["closed_at"]
    is_breached = due_at < F.coalesce(F.least(decided_at, closed_at), day_end)
    return [
        F.date_from_unix_date("day").alias("business_date"),
        F.col("case_id"),
        F.col("jurisdiction"),
        F.get(F.split(F.lit(",".join(CASE_CLASSES)), ","), state["case_class"]).alias("case_class"),
        _state_word(state, decided_at).alias("state"),
        F.timestamp_micros(opened_at).alias("opened_at"),
        F.date_from_unix_date("opened_on").alias("opened_on"),
        F.timestamp_micros(due_at).alias("due_at"),
        F.call_function("div", F.col("paused_micros"), F.lit(1_000_000)).alias("paused_seconds"),
        F.col("paused_business_days"),
        state["escalated"].alias("escalated"),
        F.timestamp_micros(decided_at).alias("decided_at"),
        F.timestamp_micros(closed_at).alias("closed_at"),
        is_breached.alias("is_breached"),
        F.when(is_breached, F.timestamp_micros(due_at)).alias("breach_at"),
        floor_divide(day_end - opened_at, DAY_MICROS).alias("age_days"),
        (utc_day(opened_at) == F.col("day")).alias("opened_today"),
        F.coalesce(utc_day(closed_at) == F.col("day"), F.lit(False)).alias("closed_today"),
        F.col("period.event_count").alias("event_count"),
        F.col("period.latest_source_version").alias("latest_source_version"),
    ]


def _state_word(state: Column, decided_at: Column) -> Column:
    return (
        F.when(state["closed_at"].isNotNull(), CaseState.CLOSED.value)
        .when(decided_at.isNotNull(), CaseState.DECIDED.value)
        .when(state["evidence_at"].isNotNull(), CaseState.PAUSED.value)
        .when(state["escalated"], CaseState.ESCALATED.value)
        .otherwise(CaseState.OPEN.value)
    )
