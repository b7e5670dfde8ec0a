"""Turns a jurisdiction calendar into arrays by day, so that the rule needs no date arithmetic.

A deadline is counted in business days. Every day has an ordinal, the number of business days before
it; pauses are then differences of ordinals and a deadline is a sum. Only here are time zones known.
Days count from 1970-01-01, and an array begins with the calendar's first day.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate
from typing import TypedDict
from zoneinfo import ZoneInfo

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from backfill_platform.domain.partitions import ONE_DAY
from backfill_platform.enforcement.jurisdiction_calendar import Jurisdiction, JurisdictionCalendar
from backfill_platform.enforcement.lifecycle import CASE_CLASSES

EPOCH = date(1970, 1, 1)
DAY_SECONDS = 86_400

ZoneOf = Callable[[Jurisdiction], str]


class CalendarTable(TypedDict):
    """What the rule looks up for one jurisdiction."""

    jurisdiction: str
    first_day: int
    utc_offset_seconds: list[int]  # by UTC day: gives the local date of any instant in it
    business_days_before: list[int]  # by local date
    ordinal_at_day_end: list[int]  # by UTC day: the ordinal of the local date at which it ends
    due_seconds: list[int]  # by ordinal of the due date: the instant of the midnight that ends it
    terms: list[int]  # by local date: the place of the terms then in force
    sla_days: list[int]  # by place of the terms and, within, by case class
    extra_days: list[int]  # by place of the terms


_SCHEMA = pa.schema(
    {
        "jurisdiction": pa.string(),
        "first_day": pa.int32(),
        "utc_offset_seconds": pa.list_(pa.int32()),
        "business_days_before": pa.list_(pa.int32()),
        "ordinal_at_day_end": pa.list_(pa.int32()),
        "due_seconds": pa.list_(pa.int64()),
        "terms": pa.list_(pa.int32()),
        "sla_days": pa.list_(pa.int32()),
        "extra_days": pa.list_(pa.int32()),
    }
)


def calendar_frame(
    spark: SparkSession, calendar: JurisdictionCalendar, zone_of: ZoneOf
) -> DataFrame:
    """One small row for each jurisdiction, sent to wherever the cases are.

    A lookup is then one array access within generated code; the arrays are never copied.
    """
    rows = [
        build_table(calendar, jurisdiction, zone_of(jurisdiction))
        for jurisdiction in calendar.jurisdictions.values()
    ]
    return F.broadcast(spark.createDataFrame(pa.Table.from_pylist(rows, schema=_SCHEMA)))


def build_table(
    calendar: JurisdictionCalendar, jurisdiction: Jurisdiction, zone_name: str
) -> CalendarTable:
    zone = ZoneInfo(zone_name)
    every_day = _days(calendar.first_day, calendar.last_day)
    works = [jurisdiction.works_on(day) for day in every_day]
    before = list(accumulate(works, initial=0))[:-1]
    ordinal_of = dict(zip(every_day, before, strict=True))
    day_ends = [_utc_midnight(day + ONE_DAY).astimezone(zone).date() for day in every_day]
    midnights = [_seconds(_local_midnight(day + ONE_DAY, zone)) for day in every_day]
    all_terms = jurisdiction.terms
    return CalendarTable(
        jurisdiction=jurisdiction.code,
        first_day=(calendar.first_day - EPOCH).days,
        utc_offset_seconds=[_offset(day, zone) for day in every_day],
        business_days_before=before,
        ordinal_at_day_end=[ordinal_of.get(local, before[-1]) for local in day_ends],
        # Business days are counted from one: the first entry is no date.
        due_seconds=[0, *(end for end, is_open in zip(midnights, works, strict=True) if is_open)],
        terms=[all_terms.index(jurisdiction.terms_on(day)) for day in every_day],
        sla_days=[terms.sla_business_days[name] for terms in all_terms for name in CASE_CLASSES],
        extra_days=[terms.escalation_extra_days for terms in all_terms],
    )


def _days(first: date, last: date) -> Sequence[date]:
    return [first + timedelta(days=offset) for offset in range((last - first).days + 1)]


def _offset(utc_day: date, zone: ZoneInfo) -> int:
    """The offset in force at the local midnight that falls into a UTC day.

    That one offset dates every instant of the UTC day rightly, also when clocks change on it:
    dates turn at midnight and at no other moment.
    """
    local_day = _utc_midnight(utc_day).astimezone(zone).date()
    next_midnight = _local_midnight(local_day + ONE_DAY, zone)
    return (local_day + ONE_DAY - EPOCH).days * DAY_SECONDS - _seconds(next_midnight)


def _utc_midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _local_midnight(day: date, zone: ZoneInfo) -> datetime:
    """Where clocks skip midnight, the day begins at the moment of the change."""
    return datetime(day.year, day.month, day.day, tzinfo=zone)


def _seconds(instant: datetime) -> int:
    return int(instant.timestamp())
