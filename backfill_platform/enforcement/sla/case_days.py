"""Reads each case's clock at the end of each business day on which the case is active.

One shuffle brings a case's events together; everything after it happens within the case's row.
"""

from collections.abc import Callable
from functools import partial

from pyspark.sql import DataFrame

from backfill_platform.domain.transforms import Frames, TransformContext
from backfill_platform.enforcement.jurisdiction_calendar import Jurisdiction
from backfill_platform.enforcement.lifecycle import CASE_CLASSES, CaseState
from backfill_platform.enforcement.sla.calendar_tables import EPOCH, ZoneOf, calendar_frame
from backfill_platform.enforcement.sla.periods import case_periods
from backfill_platform.enforcement.sla.versions import DAY_MICROS, case_versions, local_day, utc_day

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
    events: DataFrame = frames.inputs[EVENTS]
    calendar = calendar_frame(events.sparkSession, frames.references[CALENDAR], zone_of)
    first_day = (context.publish_days.start - EPOCH).days
    last_day = (context.publish_days.last - EPOCH).days
    cases = case_versions(events, calendar, context.windows[EVENTS], last_day)
    periods = case_periods(cases, first_day, last_day)
    return _active(_readings(_daily(periods).join(calendar, "jurisdiction", "left")))


def _daily(periods: DataFrame) -> DataFrame:
    """A row for each day of a period, with all that only depends on the period."""
    return periods.where("period.clock.opened IS NOT NULL").selectExpr(
        "case_id",
        "jurisdiction",
        "period.event_count",
        "period.latest_source_version",
        "period.clock.opened.at AS opened_at",
        "period.clock.opened.case_class AS case_class",
        "period.clock.deadline",
        "period.clock.awaiting",
        "period.clock.decided.at AS decided_at",
        "period.clock.paused",
        "period.clock.escalated",
        "period.clock.closed_at",
        "explode(sequence(period.start, period.end)) AS day",
    )


def _readings(days: DataFrame) -> DataFrame:
    """Adds what moves with the day. A decision may have been given an instant still to come."""
    ended = days.selectExpr("*", f"(day + 1) * {DAY_MICROS} AS day_end")
    waited = ended.selectExpr(
        "* EXCEPT (decided_at)",
        "CASE WHEN decided_at < day_end THEN decided_at END AS decided_at",
        """CASE WHEN awaiting IS NULL THEN 0
           ELSE get(ordinal_at_day_end, day - first_day) - awaiting.ordinal END AS waited_days""",
        "CASE WHEN awaiting IS NULL THEN 0 ELSE day_end - awaiting.at END AS waited_micros",
    )
    due = waited.selectExpr("*", "get(due_seconds, deadline + waited_days) * 1000000L AS due_at")
    return due.selectExpr(
        "*", "due_at < coalesce(least(decided_at, closed_at), day_end) AS is_breached"
    )


def _active(readings: DataFrame) -> DataFrame:
    classes = ", ".join(f"'{case_class}'" for case_class in CASE_CLASSES)
    return readings.where(f"closed_at IS NULL OR closed_at >= day_end - {DAY_MICROS}").selectExpr(
        "date_from_unix_date(day) AS business_date",
        "case_id",
        "jurisdiction",
        f"get(array({classes}), case_class) AS case_class",
        f"{_STATE} AS state",
        "timestamp_micros(opened_at) AS opened_at",
        f"date_from_unix_date({local_day('opened_at')}) AS opened_on",
        "timestamp_micros(due_at) AS due_at",
        "(paused.micros + waited_micros) div 1000000 AS paused_seconds",
        "paused.days + waited_days AS paused_business_days",
        "escalated",
        "timestamp_micros(decided_at) AS decided_at",
        "timestamp_micros(closed_at) AS closed_at",
        "is_breached",
        "CASE WHEN is_breached THEN timestamp_micros(due_at) END AS breach_at",
        f"{utc_day('(day_end - opened_at)')} AS age_days",
        f"{utc_day('opened_at')} = day AS opened_today",
        f"coalesce({utc_day('closed_at')} = day, false) AS closed_today",
        "event_count",
        "latest_source_version",
    )


_STATE = f"""
    CASE WHEN closed_at IS NOT NULL THEN '{CaseState.CLOSED.value}'
    WHEN decided_at IS NOT NULL THEN '{CaseState.DECIDED.value}'
    WHEN awaiting IS NOT NULL THEN '{CaseState.PAUSED.value}'
    WHEN escalated THEN '{CaseState.ESCALATED.value}'
    ELSE '{CaseState.OPEN.value}' END
"""
