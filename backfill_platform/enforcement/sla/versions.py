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
VERSION_FIELDS = {
    "at": "bigint",
    "rank": "int",
    "event_id": "string",
    "version": "int",
    "known_from": "int",
    "known_to": "int",
    "stands": "boolean",
    "case_class": "int",
    "ordinal": "int",
    "effect_at": "bigint",
    "effect_ordinal": "int",
    "extra": "int",
}
VERSION_TYPE = f"struct<{', '.join(f'{name}: {kind}' for name, kind in VERSION_FIELDS.items())}>"


def case_versions(
    events: DataFrame, calendar: DataFrame, window: InputWindow, last_day: int
) -> DataFrame:
    """Every case once, with all versions of its events. This is the only shuffle of the rule."""
    versions = _numbers(_that_matter(events, last_day), window)
    versions = _deadlines(_local_days(versions.join(calendar, "jurisdiction", "left")))
    collected = f"collect_list(struct({', '.join(VERSION_FIELDS)})) AS versions"
    return versions.groupBy("case_id", "jurisdiction").agg(
        *(F.expr(each) for each in (collected, *_BOUNDS))
    )


def _that_matter(events: DataFrame, last_day: int) -> DataFrame:
    """Leaves out copies, and what happened after the asked days and replaces nothing older."""
    return events.where(
        f"""delivery = 1
        AND (source_version > 1 OR unix_micros(occurred_at) < {last_day + 1} * {DAY_MICROS}L)"""
    )


def _numbers(events: DataFrame, window: InputWindow) -> DataFrame:
    return events.selectExpr(
        "case_id",
        "jurisdiction",
        "event_id",
        "source_version AS version",
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


_OPENS = f"stands AND rank = {EVENT_TYPES.index(EventType.OPENED)}"
_CLOSES = f"stands AND rank = {EVENT_TYPES.index(EventType.CLOSED)}"

# Kept beside the versions, so that most cases are seen to be over without a look at their events.
_BOUNDS = (
    f"min(CASE WHEN {_OPENS} THEN greatest(known_from, {utc_day('at')}) END) AS opened_from",
    f"max(CASE WHEN {_OPENS} THEN known_to END) AS opened_until",
    f"max(CASE WHEN {_OPENS} THEN at END) AS opened_at",
    f"max(CASE WHEN {_CLOSES} THEN greatest(known_from - 1, {utc_day('at')}) END) AS open_until",
    f"min(CASE WHEN {_CLOSES} THEN known_to END) AS closed_until",
    f"min(CASE WHEN {_CLOSES} THEN at END) AS closed_at",
)

HOLDS_EVERY_EVENT_ONCE = "size(array_distinct(versions.event_id)) = size(versions)"

# Versions by event and rank: what outranks a version follows it, up to the end of its event. Exact
# copies have one content; the one that arrived last stands for all of them.
_RANKED = """
    array_sort(transform(versions, own -> struct(
      own.event_id AS event_id, own.version AS version, own.known_from AS known_from, own AS own)))
"""

# All windows are equally long, so another one cuts off an end and never leaves a hole.
_NARROWED = """
    aggregate(
      slice(ranked, place + 2, size(ranked)),
      struct(entry.own.known_from AS known_from, entry.own.known_to AS known_to),
      (days, other) -> CASE
        WHEN other.event_id != entry.event_id THEN days
        WHEN other.own.known_from > days.known_to OR other.own.known_to < days.known_from THEN days
        WHEN other.own.known_from > days.known_from
          THEN struct(days.known_from AS known_from, other.own.known_from - 1 AS known_to)
        ELSE struct(other.own.known_to + 1 AS known_from, days.known_to AS known_to)
      END)
"""


def _with_days(days: str) -> str:
    fields = (
        f"{days if name.startswith('known') else 'pair.own'}.{name} AS {name}"
        for name in VERSION_FIELDS
    )
    return f"struct({', '.join(fields)})"


# A version counts on the days on which no higher version of its event is known. Most cases hold
# every event once, and those pass untouched.
SETTLED = f"""
    CASE WHEN holds_every_event_once THEN versions
    ELSE flatten(transform(array({_RANKED}), ranked ->
      transform(ranked, (entry, place) -> CASE
        WHEN get(ranked, place + 1).event_id = entry.event_id
        THEN element_at(
          transform(
            array(struct(entry.own AS own, {_NARROWED} AS days)),
            pair -> {_with_days("pair.days")}),
          1)
        ELSE entry.own END)))
    END
"""
