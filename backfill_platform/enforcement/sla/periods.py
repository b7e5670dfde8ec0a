"""The stretches of days in which one and the same set of events counts for a case.

Within such a period only the clock moves, so the events are folded once per period and not once per
day. Bounds are tight, but never decide whether a case is active: the reading of each day does.
"""

from pyspark.sql import DataFrame

from backfill_platform.enforcement.lifecycle import EVENT_TYPES, EventType
from backfill_platform.enforcement.sla.clock import run_clock
from backfill_platform.enforcement.sla.versions import utc_day

_COUNTS_FROM = f"greatest(event.known_from, {utc_day('event.at')})"
_HOLDS = "event.stands AND event.known_from <= event.known_to"
_OPENED = f"event.rank = {EVENT_TYPES.index(EventType.OPENED)}"
_CLOSED = f"event.rank = {EVENT_TYPES.index(EventType.CLOSED)}"


def case_periods(cases: DataFrame, first_day: int, last_day: int) -> DataFrame:
    """For each case its periods within the asked days; most cases have none and end here."""
    openings = cases.selectExpr("*", f"filter(events, event -> {_OPENED} AND {_HOLDS}) AS openings")
    bounded = openings.selectExpr("*", f"{_bounds(first_day, last_day)} AS bounds")
    # Not a filter on the bounds: Spark would push it down and reckon all of the above twice.
    started = bounded.selectExpr(
        "case_id",
        "jurisdiction",
        "events",
        "bounds.last_day",
        f"CASE WHEN bounds.first_day <= bounds.last_day THEN {_STARTS} ELSE array() END AS starts",
    )
    return started.selectExpr(
        "case_id", "jurisdiction", f"explode(transform({_KNOWN}, period -> {_FOLDED})) AS period"
    )


def _bounds(first_day: int, last_day: int) -> str:
    """From the first day on which an opening counts to the last before a closing takes over.

    On the day of the closing itself, and until the closing is known, the case is still active.
    """
    closes = f"""{_CLOSED} AND {_HOLDS} AND event.at >= array_max(openings.at)
        AND event.known_to >= array_max(openings.known_to)"""
    last_before = f"greatest({utc_day('event.at')}, event.known_from - 1)"
    return f"""struct(
        greatest({first_day}, array_min(transform(openings, event -> {_COUNTS_FROM}))) AS first_day,
        least(
          if(size(openings) = 0, {first_day - 1}, {last_day}),
          array_max(openings.known_to),
          array_min(transform(filter(events, event -> {closes}), event -> {last_before}))
        ) AS last_day)"""


# The first possible day, and each later one on which an event begins or ceases to count.
_STARTS = f"""
    array_sort(array_distinct(concat(
      array(bounds.first_day),
      filter(
        concat(
          transform(events, event -> {_COUNTS_FROM}),
          transform(events, event -> event.known_to + 1)),
        day -> day > bounds.first_day AND day <= bounds.last_day))))
"""

_KNOWN = f"""
    transform(starts, (start, place) -> struct(
      start,
      coalesce(get(starts, place + 1) - 1, last_day) AS end,
      filter(events,
        event -> event.stands AND start BETWEEN {_COUNTS_FROM} AND event.known_to) AS known))
"""

_FOLDED = f"""
    struct(
      period.start AS start,
      period.end AS end,
      size(period.known) AS event_count,
      array_max(period.known.version) AS latest_source_version,
      {run_clock("period.known")} AS clock)
"""
