"""Limits of several origins become the strictest of each."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backfill_platform.domain.limits import NO_LIMITS, DailyWindow, Limits

NIGHT = DailyWindow(start="22:00", end="06:00")

hours = st.integers(0, 23).map(lambda hour: f"{hour:02d}:00")
windows = st.lists(hours, min_size=2, max_size=2, unique=True).map(
    lambda pair: DailyWindow(start=pair[0], end=pair[1])
)


def test_the_stricter_of_each_limit_holds():
    policy = Limits(max_rows=1_000, max_cost_usd=Decimal(5), pause_seconds=1)
    table = Limits(max_rows=10, max_partitions_at_once=4, pause_seconds=9)
    assert policy.tightened_by(table) == Limits(
        max_rows=10, max_cost_usd=Decimal(5), max_partitions_at_once=4, pause_seconds=9
    )


def test_no_limits_loosen_nothing():
    policy = Limits(max_rows=1_000, off_peak=NIGHT)
    assert policy.tightened_by(NO_LIMITS) == NO_LIMITS.tightened_by(policy) == policy


def test_windows_keep_the_hours_in_which_both_are_open():
    early = DailyWindow(start="03:00", end="09:00")
    assert NIGHT.overlap(early) == DailyWindow(start="03:00", end="06:00")


def test_windows_that_never_meet_are_refused():
    noon = Limits(off_peak=DailyWindow(start="11:00", end="13:00"))
    with pytest.raises(ValueError, match=r"no hour is off peak for both: 22:00 to 06:00 UTC and"):
        Limits(off_peak=NIGHT).tightened_by(noon)


@pytest.mark.parametrize(
    ("limits", "problem"),
    [
        (Limits(max_rows=0), "max_rows is 0"),
        (Limits(max_cost_usd=Decimal("-1")), "max_cost_usd is -1"),
        (Limits(pause_seconds=-1), "pause_seconds is -1"),
    ],
)
def test_limits_that_nobody_could_keep_are_named(limits, problem):
    assert [found.split(";")[0] for found in limits.problems] == [problem]


def open_hours(window: DailyWindow) -> set[int]:
    return {hour for hour in range(24) if window.is_open(datetime(2025, 1, 1, hour, tzinfo=UTC))}


@given(windows, windows)
def test_what_two_windows_share_is_open_in_both(one: DailyWindow, other: DailyWindow):
    shared = one.overlap(other)
    assert (open_hours(shared) if shared else set()) <= open_hours(one) & open_hours(other)
    assert (shared is None) == (not open_hours(one) & open_hours(other))
    assert one.overlap(other) == other.overlap(one)
