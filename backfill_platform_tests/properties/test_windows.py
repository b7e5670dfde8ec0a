"""However a run is cut into chunks, a chunk reads the whole window of each of its days."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from backfill_platform.domain.partitions import Boundary, DayRange, PartitionSet
from backfill_platform.domain.transforms import InputWindow
from backfill_platform.planner.scope import input_days

SOME_MONTHS = DayRange(date(2025, 1, 1), date(2025, 7, 1))
days_of_runs = st.sets(st.dates(SOME_MONTHS.start, SOME_MONTHS.last), min_size=1, max_size=30)
windows = st.builds(InputWindow, before_days=st.integers(0, 60), after_days=st.integers(0, 60))


@given(days_of_runs, windows, st.integers(1, 40), st.sampled_from(Boundary))
def test_a_day_never_reads_less_than_its_window_because_of_its_chunk(
    days: set[date], window: InputWindow, days_per_chunk: int, boundary: Boundary
):
    asked = PartitionSet.of_days(days)
    pinned = input_days(asked, window)  # what the run reads at most
    assert [
        (chunk, day)
        for chunk in asked.split(days_per_chunk, boundary)
        for day in chunk
        if not clipped(chunk, window, pinned).covers(input_days(DayRange.of_day(day), window))
    ] == []


def clipped(chunk: DayRange, window: InputWindow, pinned: DayRange) -> DayRange:
    """As a chunk's frames are bounded."""
    read = input_days(chunk, window).clip(pinned)
    assert read is not None
    return read
