"""Days as people write them."""

from datetime import date

import pytest

from backfill_platform.domain.day_notation import parse_days
from backfill_platform.domain.partitions import PartitionSet


def test_what_is_printed_can_be_read_again():
    days = PartitionSet.of_days([date(2025, 1, 1), date(2025, 1, 2), date(2025, 3, 1)])
    assert str(days) == "2025-01-01..2025-01-02, 2025-03-01"
    assert parse_days(str(days)) == days


@pytest.mark.parametrize("text", ["", "january", "2025-02-30"])
def test_what_names_no_days_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match=r"names no days; write 2025-01-31"):
        parse_days(text)


def test_a_reversed_range_is_refused_with_the_one_that_was_meant():
    with pytest.raises(ValueError, match=r"ends before it starts; write 2025-01-01\.\.2025-01-31"):
        parse_days("2025-01-31..2025-01-01")
