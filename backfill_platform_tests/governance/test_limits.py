"""A chunk is cut so small that its limits can be kept, but a day is not divided."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backfill_platform.domain.limits import NO_LIMITS, Limits
from backfill_platform.governance.limits import chunk_days_within


@pytest.mark.parametrize(
    ("limits", "days"),
    [
        (NO_LIMITS, 31),
        (Limits(max_partitions_at_once=7), 7),
        (Limits(max_rows_per_minute=1_000), 10),
        (Limits(max_bytes_per_minute=1_999), 1),
        (Limits(max_rows_per_minute=1_000, max_bytes_per_minute=5_000), 5),
        (Limits(max_rows_per_minute=99), 1),
        (Limits(max_rows=1), 31),
    ],
)
def test_a_chunk_is_what_the_strictest_limit_leaves(limits, days):
    found = chunk_days_within(limits, chunk_days=31, rows_per_day=100, bytes_per_day=1_000)
    assert found == days


def test_days_without_rows_are_not_divided_by_zero():
    limits = Limits(max_rows_per_minute=10, max_bytes_per_minute=10)
    assert chunk_days_within(limits, chunk_days=31, rows_per_day=0, bytes_per_day=0) == 31


@given(st.integers(1, 10_000), st.integers(1, 400), st.integers(0, 10_000))
def test_a_chunk_of_several_days_never_reads_more_than_a_minute_allows(allowed, days, per_day):
    limits = Limits(max_rows_per_minute=allowed)
    found = chunk_days_within(limits, chunk_days=days, rows_per_day=per_day, bytes_per_day=0)
    assert 1 <= found <= days
    assert found == 1 or found * per_day <= allowed
