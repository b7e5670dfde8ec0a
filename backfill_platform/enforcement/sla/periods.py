"""The stretches of days in which one and the same set of events counts for a case.

Within such a period only the clock moves, so the events are folded once per period and not once per
day. Bounds are tight, but never decide whether a case is active: the reading of each day does.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

from backfill_platform.enforcement.lifecycle import EVENT_RANK, EventType
from backfill_platform.enforcement.sla.clock import run_clock
from backfill_platform.enforcement.sla.lookups import utc_day

_OPENED, _CLOSED = EVENT_RANK[EventType.OPENED], EVENT_RANK[EventType.CLOSED]


def possible_days(events: Column, first: int, last: int) -> Column:
    """From the first day on which an opening counts to the last before a closing takes over."""
    openings = F.filter(events, lambda event: (event["rank"] == _OPENED) & _holds(event))
    opened_from = F.array_min(F.transform(openings, _counts_from))
    opened_until = F.array_max(openings["known_to"])
    opened_at = F.array_max(openings["at"])
    closings = F.filter(
        events,
        lambda event: (
            (event["rank"] == _CLOSED)
            & _holds(event)
            & (event["known_to"] >= opened_until)
            & (event["at"] >= opened_at)
        ),
    )
    # On the day of the closing itself, and until it is known, the case is still active.
    closed_on = F.array_min(
        F.transform(
            closings, lambda event: F.greatest(utc_day(event["at"]), event["known_from"] - 1)
        )
    )
    return F.struct(
        F.greatest(F.lit(first), opened_from).alias("first"),
        F.least(F.lit(last), opened_until, closed_on).alias("last"),
    )


def period_starts(events: Column, days: Column) -> Column:
    """The first possible day, and each later one on which an event begins or ceases to count."""
    changes = F.concat(
        F.transform(events, _counts_from),
        F.transform(events, lambda event: event["known_to"] + 1),
    )
    later = F.filter(changes, lambda day: (day > days["first"]) & (day <= days["last"]))
    starts = F.array_sort(F.array_distinct(F.concat(F.array(days["first"]), later)))
    nothing = F.array().cast("array<int>")
    return F.when(days["first"] <= days["last"], starts).otherwise(nothing)


def fold_periods(events: Column, starts: Column, days: Column) -> Column:
    """For each period its days, what is known of the case in it, and where its clock stands."""
    known = F.transform(
        starts,
        lambda start, place: F.struct(
            start.alias("start"),
            F.coalesce(F.get(starts, place + 1) - 1, days["last"]).alias("end"),
            F.filter(events, lambda event: _counts_on(event, start)).alias("known"),
        ),
    )
    return F.transform(
        known,
        lambda period: F.struct(
            F.sequence(period["start"], period["end"]).alias("days"),
            F.size(period["known"]).alias("event_count"),
            F.array_max(period["known"]["version"]).alias("latest_source_version"),
            run_clock(period["known"]).alias("state"),
        ),
    )


def _holds(event: Column) -> Column:
    return event["stands"] & (event["known_from"] <= event["known_to"])


def _counts_from(event: Column) -> Column:
    return F.greatest(event["known_from"], utc_day(event["at"]))


def _counts_on(event: Column, day: Column) -> Column:
    return event["stands"] & (day >= _counts_from(event)) & (day <= event["known_to"])
