"""How days are written by people: `2025-01-01..2025-01-31, 2025-03-01`, both ends included."""

from datetime import date

from backfill_platform.domain.partitions import DayRange, PartitionSet


def parse_days(text: str) -> PartitionSet:
    """Raises ValueError with a sentence when the text names no days."""
    return PartitionSet.of_ranges(_parse_range(part.strip()) for part in text.split(","))


def _parse_range(text: str) -> DayRange:
    first, last = _parse_ends(text)
    if last < first:
        raise ValueError(f"{text!r} ends before it starts; write {last}..{first}")
    return DayRange.closed(first, last)


def _parse_ends(text: str) -> tuple[date, date]:
    first, _, last = text.partition("..")
    try:
        return date.fromisoformat(first), date.fromisoformat(last or first)
    except ValueError as wrong:
        raise ValueError(
            f"{text!r} names no days; write 2025-01-31 or 2025-01-01..2025-01-31"
        ) from wrong
