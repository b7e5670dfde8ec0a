"""How days, hours, sizes and counts stand in the sentences that a plan or a refusal is made of."""

from collections.abc import Iterable
from datetime import date

from backfill_platform.domain.partitions import PartitionSet

NAMED_RANGES = 3
_LONG_HOURS = 48
_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def name_days(days: Iterable[date]) -> str:
    """As many as a sentence bears."""
    ranges = PartitionSet.of_days(days).ranges
    named = ", ".join(str(own) for own in ranges[:NAMED_RANGES])
    more = len(ranges) - NAMED_RANGES
    return f"{named} and {more} more" if more > 0 else named


def name_hours(hours: int) -> str:
    """In days where it comes out even: 720 hours tell nobody anything."""
    whole = hours >= _LONG_HOURS and hours % 24 == 0
    return count_of(hours // 24, "day") if whole else count_of(hours, "hour")


def name_bytes(size: int) -> str:
    power = max(power for power in range(len(_UNITS)) if size >= 1000**power or power == 0)
    return f"{size / 1000**power:,.0f} {_UNITS[power]}"


def count_of(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
