"""Which version of an event counts on which days.

A version arrives, and is known from then on to the days whose window contains its arrival. Of the
known versions of an event the highest counts, so a version holds from one day to another; a
tombstone holds like any other and says that there is no such event.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.transforms import InputWindow
from backfill_platform.enforcement.lifecycle import CASE_CLASSES, EVENT_TYPES, EventType, Operation

DAY_MICROS = 86_400_000_000

# In this order: sorting a case's versions puts its events in the order in which they are read.
# For an opening, `effect_ordinal` is already the deadline, and `extra` what an escalation adds.
VERSION_FIELDS = (
    "at",
    "rank",
    "event_id",
    "version",
    "delivery",
    "known_from",
    "known_to",
    "stands",
    "case_class",
    "ordinal",
    "effect_at",
    "effect_ordinal",
    "extra",
)


def case_versions(events: DataFrame, calendar: DataFrame, window: InputWindow) -> DataFrame:
    """Every case once, with all versions of its events. This is the only shuffle of the rule."""
    versions = _deadlines(
        _local_days(_numbers(events, window).join(calendar, "jurisdiction", "left"))
    )
    version = f"struct({', '.join(VERSION_FIELDS)})"
    cases = versions.groupBy("case_id", "jurisdiction").agg(
        F.expr(f"collect_list({version})").alias("versions")
    )
    return cases.selectExpr("case_id", "jurisdiction", f"array_sort({_SETTLED}) AS events")


def _numbers(events: DataFrame, window: InputWindow) -> DataFrame:
    return events.selectExpr(
        "case_id",
        "jurisdiction",
        "event_id",
        "source_version AS version",
        "delivery",
        f"unix_date(arrival_date) - {window.after_days} AS known_from",
        f"unix_date(arrival_date) + {window.before_days} AS known_to",
        f"op = '{Operation.UPSERT.value}' AS stands",
        f"{place_of('event_type', EVENT_TYPES)} AS rank",
        f"{place_of('case_class', CASE_CLASSES)} AS case_class",
        "unix_micros(occurred_at) AS at",
        "coalesce(unix_micros(effective_at), unix_micros(occurred_at)) AS effect_at",
    )


def _local_days(versions: DataFrame) -> DataFrame:
    return versions.selectExpr(
        "*",
        f"{local_day('at')} - first_day AS local_day",
        f"{local_day('effect_at')} - first_day AS effect_local_day",
    )


def _deadlines(versions: DataFrame) -> DataFrame:
    is_opening = f"rank = {EVENT_TYPES.index(EventType.OPENED)}"
    return versions.selectExpr(
        "*",
        "get(business_days_before, local_day) AS ordinal",
        f"""CASE WHEN {is_opening} THEN get(business_days_before, local_day + 1)
              + get(sla_days, get(terms, local_day) * {len(CASE_CLASSES)} + case_class)
            ELSE get(business_days_before, effect_local_day) END AS effect_ordinal""",
        f"CASE WHEN {is_opening} THEN get(extra_days, get(terms, local_day)) END AS extra",
    )


def utc_day(micros: str) -> str:
    return f"cast({micros} div {DAY_MICROS} AS int)"


def local_day(micros: str) -> str:
    """The local date of an instant, by the offset that the calendar holds for its UTC day."""
    offset = f"get(utc_offset_seconds, {utc_day(micros)} - first_day)"
    return utc_day(f"({micros} + {offset} * 1000000L)")


def place_of(column: str, words: tuple[str, ...]) -> str:
    """The place of a word, counted from 0; null for a word that is not known."""
    known = ", ".join(f"'{word}'" for word in words)
    return f"cast(nullif(array_position(array({known}), {column}), 0) - 1 AS int)"


def _order(version: str) -> str:
    return f"struct({version}.version, {version}.known_from, {version}.delivery)"


# Exact copies have one content; the one that arrived last stands for all of them.
_OUTRANKS = f"other.event_id = own.event_id AND {_order('other')} > {_order('own')}"

# All windows are equally long, so another one cuts off an end and never leaves a hole.
_NARROWED = f"""
    aggregate(
      filter(versions, other -> {_OUTRANKS}),
      struct(own.known_from AS known_from, own.known_to AS known_to),
      (days, other) -> CASE
        WHEN other.known_from > days.known_to OR other.known_to < days.known_from THEN days
        WHEN other.known_from > days.known_from
          THEN struct(days.known_from AS known_from, other.known_from - 1 AS known_to)
        ELSE struct(other.known_to + 1 AS known_from, days.known_to AS known_to)
      END)
"""

_WITH_DAYS = ", ".join(
    f"pair.{'days' if name.startswith('known') else 'own'}.{name} AS {name}"
    for name in VERSION_FIELDS
)

# A version counts on the days on which no higher version of its event is known. Most cases hold
# every event once, and those pass untouched.
_SETTLED = f"""
    CASE WHEN size(array_distinct(versions.event_id)) = size(versions) THEN versions
    ELSE transform(
      transform(versions, own -> struct(own AS own, {_NARROWED} AS days)),
      pair -> struct({_WITH_DAYS}))
    END
"""
