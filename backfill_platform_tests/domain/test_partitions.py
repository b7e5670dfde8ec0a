"""Days, ranges and sets: what a scope is."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backfill_platform.domain.partitions import DayRange, PartitionSet

JANUARY = DayRange(date(2025, 1, 1), date(2025, 2, 1))

days = st.dates(date(2020, 1, 1), date(2030, 1, 1))
day_sets = st.sets(days, min_size=1, max_size=60)


def test_an_empty_or_reversed_range_is_refused():
    with pytest.raises(ValueError, match="must end after it starts"):
        DayRange(date(2025, 1, 2), date(2025, 1, 2))


def test_a_range_is_half_open():
    assert len(JANUARY) == 31
    assert date(2025, 1, 31) in JANUARY
    assert date(2025, 2, 1) not in JANUARY
    assert str(JANUARY) == "2025-01-01..2025-01-31"


def test_clipping_to_a_range_apart_leaves_nothing():
    assert JANUARY.clip(DayRange(date(2025, 2, 1), date(2025, 3, 1))) is None


def test_touching_days_become_one_range():
    scattered = [date(2025, 1, 3), date(2025, 1, 1), date(2025, 1, 2), date(2025, 1, 9)]
    assert PartitionSet.of_days(scattered).ranges == (
        DayRange(date(2025, 1, 1), date(2025, 1, 4)),
        DayRange.of_day(date(2025, 1, 9)),
    )


def test_a_set_that_could_be_written_shorter_is_refused():
    with pytest.raises(ValueError, match="sorted and apart"):
        PartitionSet((DayRange.of_day(date(2025, 1, 1)), DayRange.of_day(date(2025, 1, 2))))


@given(day_sets)
def test_a_set_holds_exactly_its_days_in_order(wanted: set[date]):
    assert list(PartitionSet.of_days(wanted)) == sorted(wanted)


@given(st.lists(st.tuples(st.dates(date(2025, 1, 1), date(2025, 3, 1)), st.integers(1, 9))))
def test_ranges_are_merged_to_the_days_that_they_hold(given_ranges):
    ranges = [DayRange.of_day(first).widen(after_days=more) for first, more in given_ranges]
    ranges.append(DayRange.of_day(date(2025, 2, 1)))
    days = {day for one in ranges for day in one}
    assert PartitionSet.of_ranges(ranges) == PartitionSet.of_days(days)


@given(day_sets, st.integers(1, 40))
def test_chunks_cover_the_set_exactly_and_within_the_limit(wanted: set[date], limit: int):
    chunks = PartitionSet.of_days(wanted).split(limit)
    assert [day for chunk in chunks for day in chunk] == sorted(wanted)
    assert max(len(chunk) for chunk in chunks) <= limit
