"""Days, ranges of days and sets of days: what a run reads and what it may publish.

Ranges are half-open. A `PartitionSet` is the exact scope of a publication; it is kept as the fewest
sorted ranges, so that equal scopes are equal values and give equal manifest digests.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from itertools import chain
from typing import Self

ONE_DAY = timedelta(days=1)


class Boundary(StrEnum):
    """What may not be cut: a table that sums up months is computed and published by the month."""

    DAY = "DAY"
    WEEK = "WEEK"  # Monday to Sunday
    MONTH = "MONTH"

    def start_of(self, day: date) -> date:
        match self:
            case Boundary.DAY:
                return day
            case Boundary.WEEK:
                return day - timedelta(days=day.weekday())
            case Boundary.MONTH:
                return day.replace(day=1)

    def next_start(self, day: date) -> date:
        """The first day of the unit after the one that holds `day`."""
        match self:
            case Boundary.DAY:
                return day + ONE_DAY
            case Boundary.WEEK:
                return self.start_of(day) + timedelta(days=7)
            case Boundary.MONTH:
                return (day.replace(day=1) + timedelta(days=32)).replace(day=1)


@dataclass(frozen=True, slots=True, order=True)
class DayRange:
    """The days from `start` up to, and without, `end_exclusive`; never empty."""

    start: date
    end_exclusive: date

    def __post_init__(self) -> None:
        if self.end_exclusive <= self.start:
            raise ValueError(
                f"a range of days must end after it starts: {self.start} to {self.end_exclusive}"
            )

    @classmethod
    def of_day(cls, day: date) -> Self:
        return cls(day, day + ONE_DAY)

    @classmethod
    def closed(cls, first: date, last: date) -> Self:
        return cls(first, last + ONE_DAY)

    @property
    def last(self) -> date:
        return self.end_exclusive - ONE_DAY

    def __len__(self) -> int:
        return (self.end_exclusive - self.start).days

    def __iter__(self) -> Iterator[date]:
        return (self.start + timedelta(days=offset) for offset in range(len(self)))

    def __contains__(self, day: object) -> bool:
        return isinstance(day, date) and self.start <= day < self.end_exclusive

    def __str__(self) -> str:
        return f"{self.start}" if len(self) == 1 else f"{self.start}..{self.last}"

    def covers(self, other: "DayRange") -> bool:
        return self.start <= other.start and other.end_exclusive <= self.end_exclusive

    def overlaps(self, other: "DayRange") -> bool:
        return self.start < other.end_exclusive and other.start < self.end_exclusive

    def widen(self, *, before_days: int = 0, after_days: int = 0) -> "DayRange":
        return DayRange(
            self.start - timedelta(days=before_days),
            self.end_exclusive + timedelta(days=after_days),
        )

    def clip(self, bounds: "DayRange") -> "DayRange | None":
        """What lies within `bounds`, or nothing."""
        start = max(self.start, bounds.start)
        end_exclusive = min(self.end_exclusive, bounds.end_exclusive)
        return DayRange(start, end_exclusive) if start < end_exclusive else None

    def widen_to(self, boundary: Boundary) -> "DayRange":
        """The whole weeks or months that this range touches."""
        return DayRange(boundary.start_of(self.start), boundary.next_start(self.last))

    def split(
        self, days_per_part: int, boundary: Boundary = Boundary.DAY
    ) -> tuple["DayRange", ...]:
        """Consecutive parts that cover the range exactly, cut at the boundary only; none has more
        than `days_per_part` days, except where a single week or month has."""
        if days_per_part < 1:
            raise ValueError(f"a part needs at least one day, not {days_per_part}")
        parts: list[DayRange] = []
        start = self.start
        while start < self.end_exclusive:
            end = boundary.next_start(start)
            while (following := boundary.next_start(end)) <= start + timedelta(days=days_per_part):
                end = following
            parts.append(DayRange(start, min(end, self.end_exclusive)))
            start = end
        return tuple(parts)


@dataclass(frozen=True, slots=True)
class PartitionSet:
    """Sorted, disjoint and never touching ranges of days; never empty."""

    ranges: tuple[DayRange, ...]

    def __post_init__(self) -> None:
        if not self.ranges:
            raise ValueError("a set of partitions must name at least one day")
        for left, right in zip(self.ranges, self.ranges[1:], strict=False):
            if right.start <= left.end_exclusive:
                raise ValueError(f"ranges must be sorted and apart: {left} and {right}")

    @classmethod
    def of_days(cls, days: Iterable[date]) -> Self:
        merged: list[DayRange] = []
        for day in sorted(set(days)):
            if merged and merged[-1].end_exclusive == day:
                merged[-1] = DayRange(merged[-1].start, day + ONE_DAY)
            else:
                merged.append(DayRange.of_day(day))
        return cls(tuple(merged))

    @classmethod
    def of_ranges(cls, ranges: Iterable[DayRange]) -> Self:
        """However long they are, and whether or not they overlap."""
        merged: list[DayRange] = []
        for one in sorted(ranges):
            if merged and one.start <= merged[-1].end_exclusive:
                end = max(one.end_exclusive, merged[-1].end_exclusive)
                merged[-1] = DayRange(merged[-1].start, end)
            else:
                merged.append(one)
        return cls(tuple(merged))

    @classmethod
    def of_range(cls, days: DayRange) -> Self:
        return cls((days,))

    @property
    def span(self) -> DayRange:
        return DayRange(self.ranges[0].start, self.ranges[-1].end_exclusive)

    def __len__(self) -> int:
        return sum(len(days) for days in self.ranges)

    def __iter__(self) -> Iterator[date]:
        return chain.from_iterable(self.ranges)

    def __contains__(self, day: object) -> bool:
        return any(day in days for days in self.ranges)

    def __str__(self) -> str:
        return ", ".join(str(days) for days in self.ranges)

    def covers(self, days: DayRange) -> bool:
        return any(own.covers(days) for own in self.ranges)

    def split(self, days_per_part: int, boundary: Boundary = Boundary.DAY) -> tuple[DayRange, ...]:
        """The chunks of a run: contiguous, each within one range, together exactly this set."""
        return tuple(chain.from_iterable(own.split(days_per_part, boundary) for own in self.ranges))
