"""The stretches of days in which one and the same set of events counts for a case.

Within such a period only the clock moves, so the events are folded once per period and not once per
day. Bounds are tight, but never decide whether a case is active: the reading of each day does.
"""

from pyspark.sql import DataFrame

from backfill_platform.enforcement.sla.clock import run_clock
from backfill_platform.enforcement.sla.versions import HOLDS_EVERY_EVENT_ONCE, SETTLED, utc_day

_COUNTS_FROM = f"greatest(event.known_from, {utc_day('event.at')})"


def case_periods(cases: DataFrame, first_day: int, last_day: int) -> DataFrame:
    """For each case its periods within the asked days; most cases have none and end here."""
    bounded = cases.selectExpr(
        "case_id",
        "jurisdiction",
        "versions",
        f"{HOLDS_EVERY_EVENT_ONCE} AS holds_every_event_once",
        # Without an opening there is no first day: greatest() would pass over the null.
        f"if(opened_from < {first_day}, {first_day}, opened_from) AS first_day",
        f"least({last_day}, opened_until, {_OPEN_UNTIL}) AS last_day",
    )
    ordered = bounded.where("first_day <= last_day").selectExpr(
        "case_id", "jurisdiction", "first_day", "last_day", f"array_sort({SETTLED}) AS events"
    )
    started = ordered.selectExpr("*", f"{_STARTS} AS starts")
    return started.selectExpr(
        "case_id", "jurisdiction", f"explode(transform({_KNOWN}, period -> {_FOLDED})) AS period"
    )


# On the day of its closing, and until the closing is known, a case is still active. The bound is
# only for closings that nothing can undo within the days on which the opening is known.
_OPEN_UNTIL = f"""
    CASE WHEN closed_until >= opened_until AND closed_at >= opened_at AND {HOLDS_EVERY_EVENT_ONCE}
    THEN open_until END
"""

# The first possible day, and each later one on which an event begins or ceases to count.
_STARTS = f"""
    array_sort(array_distinct(concat(
      array(first_day),
      filter(
        concat(
          transform(events, event -> {_COUNTS_FROM}),
          transform(events, event -> event.known_to + 1)),
        day -> day > first_day AND day <= last_day))))
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
