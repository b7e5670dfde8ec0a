"""Numbers are written as people read them."""

from datetime import date
from decimal import Decimal

import pytest

from backfill_platform.cli.figures import show_bytes, show_days, show_money, show_seconds
from backfill_platform.domain.partitions import PartitionSet


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (12_345_678, "12.3 MB"), (10**18, "1000.0 PB")],
)
def test_sizes_have_one_unit(size, text):
    assert show_bytes(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"),
        (0.4, "0 s"),
        (59.6, "1 min"),
        (90, "1 min 30 s"),
        (7200, "2 h"),
        (7260, "2 h 1 min"),
        (90_000, "1 d 1 h"),
    ],
)
def test_durations_have_the_two_units_that_matter(seconds, text):
    assert show_seconds(seconds) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [("0", "$0.00"), ("0.0012", "$0.0012"), ("0.38", "$0.38"), ("1234.5", "$1,234.50")],
)
def test_small_costs_are_not_shown_as_nothing(amount, text):
    assert show_money(Decimal(amount)) == text


def test_few_ranges_are_all_named():
    days = PartitionSet.of_days([date(2025, 1, 1), date(2025, 1, 3), date(2025, 1, 4)])
    assert show_days(days) == "2025-01-01, 2025-01-03..2025-01-04"


def test_of_many_ranges_the_first_are_named_and_the_end():
    days = PartitionSet.of_days(date(2025, 1, day) for day in range(1, 30, 2))
    assert show_days(days) == (
        "2025-01-01, 2025-01-03, 2025-01-05 and 12 more ranges, until 2025-01-29"
    )
