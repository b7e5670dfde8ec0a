"""Nothing closes the window of a day early: not the cut, not the order, not what lies beside it.

A chunk gets the events that the platform would read for it, and no others, in an order and in parts
that mean nothing. Each world has arrivals on both sides of every boundary that a cut may have.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import reduce

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.transforms import InputWindow
from backfill_platform.enforcement.silver import CASE_SLA_DAILY, EVENTS
from backfill_platform.planner.scope import input_days
from backfill_platform_tests.enforcement.oracle import Delivered, Oracle
from backfill_platform_tests.enforcement.running import (
    CALENDAR,
    bronze_frame,
    rows_of,
    transform,
)
from backfill_platform_tests.enforcement.small_worlds import EVENTFUL_DAYS, small_worlds

WINDOW = InputWindow(before_days=45, after_days=30)
KEY = ("business_date", "case_id")


@dataclass(frozen=True)
class Replay:
    """A world, and one of the many ways in which its days may be computed."""

    events: list[Delivered]
    chunks: list[DayRange]
    parts: int

    @property
    def days(self) -> PartitionSet:
        return PartitionSet.of_days(day for chunk in self.chunks for day in chunk)


def late_across(boundary: date) -> list[Delivered]:
    """Arrivals that cross the boundary, and those on the first and the last day that its day uses:
    whoever reads a day less on either side shows another row."""
    earlier, later = boundary - timedelta(days=1), boundary + timedelta(days=1)
    first = boundary - timedelta(days=WINDOW.before_days)
    last = boundary + timedelta(days=WINDOW.after_days)
    return [
        delivery(f"{boundary}-crossing", "opened", boundary - timedelta(days=3), earlier),
        delivery(f"{boundary}-crossing", "closed", earlier, later),
        delivery(f"{boundary}-oldest", "opened", first, first),
        delivery(f"{boundary}-latest", "opened", boundary, later),
        delivery(f"{boundary}-latest", "closed", boundary, last),
    ]


def delivery(case: str, event_type: str, on: date, arrival: date) -> Delivered:
    return Delivered(
        case_id=case,
        jurisdiction="DE-BE",
        case_class="licensing",
        event_id=f"{case}-{event_type}",
        event_type=event_type,
        occurred_at=datetime.combine(on, time(9 if event_type == "opened" else 17), UTC),
        effective_at=None,
        version=1,
        op="u",
        arrival_date=arrival,
    )


@st.composite
def replays(draw: st.DrawFn) -> Replay:
    around = draw(st.sampled_from(EVENTFUL_DAYS))
    days = list(DayRange.of_day(around).widen(before_days=1, after_days=4))
    cuts = sorted(draw(st.sets(st.sampled_from(days[1:-1]), min_size=1, max_size=3)))
    chunks = [DayRange(*ends) for ends in zip([days[0], *cuts], [*cuts, days[-1]], strict=True)]
    events = draw(small_worlds(around, most_cases=12))
    events += [event for boundary in days for event in late_across(boundary)]
    return Replay(
        events=draw(st.permutations(events)),
        chunks=draw(st.permutations(chunks)),
        parts=draw(st.integers(1, 4)),
    )


@settings(
    max_examples=3,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(replay=replays())
def test_no_cut_and_no_order_closes_a_window_early(spark: SparkSession, replay: Replay) -> None:
    events = bronze_frame(spark, replay.events).repartition(replay.parts)
    chunks = [compute(events, chunk) for chunk in replay.chunks]
    assert rows_of(reduce(DataFrame.unionAll, chunks), *KEY) == expected(replay)


def compute(events: DataFrame, chunk: DayRange) -> DataFrame:
    read = input_days(chunk, WINDOW)
    bounded = events.where(F.col("arrival_date").between(read.start, read.last))
    return transform(CASE_SLA_DAILY, {EVENTS: bounded}, chunk)


def expected(replay: Replay) -> list[dict[str, object]]:
    """Every day by itself, from everything."""
    oracle = Oracle(
        calendar=CALENDAR,
        reckons_in_utc=False,
        before_days=WINDOW.before_days,
        after_days=WINDOW.after_days,
    )
    rows = oracle.rows(replay.events, replay.days)
    return sorted(rows, key=lambda row: tuple(row[name] for name in KEY))
