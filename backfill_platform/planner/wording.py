"""How days and counts stand in the sentences that a plan or a refusal is made of."""

from collections.abc import Iterable
from datetime import date

from backfill_platform.domain.partitions import PartitionSet

NAMED_RANGES = 3


def name_days(days: Iterable[date]) -> str:
    """As many as a sentence bears."""
    ranges = PartitionSet.of_days(days).ranges
    named = ", ".join(str(own) for own in ranges[:NAMED_RANGES])
    more = len(ranges) - NAMED_RANGES
    return f"{named} and {more} more" if more > 0 else named


def count_of(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
