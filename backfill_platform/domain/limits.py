"""How much a run may take at a time and in all; what keeps a slow correct run from an incident.

Policy, table and intent each lay down limits; `tightened_by` gives those that keep all of them. How
a running chunk is slowed down or stopped does not belong here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time
from decimal import Decimal
from typing import TypeVar

Number = TypeVar("Number", int, Decimal)

_DAY_SECONDS = 24 * 60 * 60


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyWindow:
    """The hours of each day, in UTC, in which chunks may begin; it may go past midnight."""

    start: str  # 22:00
    end: str  # 06:00

    def __post_init__(self) -> None:
        if time.fromisoformat(self.start) == time.fromisoformat(self.end):
            raise ValueError(f"a window must end at another time than it starts: {self.start}")

    def is_open(self, now: datetime) -> bool:
        return self._is_open_at(now.time())

    def overlap(self, other: "DailyWindow") -> "DailyWindow | None":
        """The hours in which both are open; the longer ones where that is twice a day."""
        starts = {
            begin
            for begin in (self.start, other.start)
            if all(window._is_open_at(time.fromisoformat(begin)) for window in (self, other))
        }
        shared = (_until_first_end(begin, self.end, other.end) for begin in sorted(starts))
        return max(shared, key=lambda window: window._seconds, default=None)

    def __str__(self) -> str:
        return f"{self.start} to {self.end} UTC"

    @property
    def _seconds(self) -> int:
        return _seconds_until(self.start, self.end)

    def _is_open_at(self, at: time) -> bool:
        start, end = time.fromisoformat(self.start), time.fromisoformat(self.end)
        return start <= at < end if start < end else at >= start or at < end


def _until_first_end(start: str, *ends: str) -> DailyWindow:
    return DailyWindow(start=start, end=min(ends, key=lambda end: _seconds_until(start, end)))


def _seconds_until(start: str, end: str) -> int:
    begin, finish = time.fromisoformat(start), time.fromisoformat(end)
    return (_second_of_day(finish) - _second_of_day(begin)) % _DAY_SECONDS


def _second_of_day(at: time) -> int:
    return (at.hour * 60 + at.minute) * 60 + at.second


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Nothing in a field means no limit of that kind."""

    max_partitions_at_once: int | None = None  # being computed at the same time, over all chunks
    max_rows_per_minute: int | None = None  # of input
    max_bytes_per_minute: int | None = None  # of input
    max_commits_per_hour: int | None = None  # to the target, by this run
    pause_seconds: int = 0  # between chunks
    off_peak: DailyWindow | None = None
    max_rows: int | None = None  # of input, over the whole run
    max_cost_usd: Decimal | None = None

    @property
    def problems(self) -> tuple[str, ...]:
        """Why nobody could keep to these limits, a sentence each; empty when they make sense."""
        return tuple(self._find_problems())

    def tightened_by(self, other: "Limits") -> "Limits":
        """The strictest of each. Raises ValueError when no hour of the day is open to both."""
        return Limits(
            max_partitions_at_once=_smaller(
                self.max_partitions_at_once, other.max_partitions_at_once
            ),
            max_rows_per_minute=_smaller(self.max_rows_per_minute, other.max_rows_per_minute),
            max_bytes_per_minute=_smaller(self.max_bytes_per_minute, other.max_bytes_per_minute),
            max_commits_per_hour=_smaller(self.max_commits_per_hour, other.max_commits_per_hour),
            pause_seconds=max(self.pause_seconds, other.pause_seconds),
            off_peak=_narrower(self.off_peak, other.off_peak),
            max_rows=_smaller(self.max_rows, other.max_rows),
            max_cost_usd=_smaller(self.max_cost_usd, other.max_cost_usd),
        )

    def _find_problems(self) -> Iterator[str]:
        greatest = {
            "max_partitions_at_once": self.max_partitions_at_once,
            "max_rows_per_minute": self.max_rows_per_minute,
            "max_bytes_per_minute": self.max_bytes_per_minute,
            "max_commits_per_hour": self.max_commits_per_hour,
            "max_rows": self.max_rows,
            "max_cost_usd": self.max_cost_usd,
        }
        for name, value in greatest.items():
            if value is not None and value <= 0:
                yield f"{name} is {value}; a limit must be greater than 0, or be left out"
        if self.pause_seconds < 0:
            yield f"pause_seconds is {self.pause_seconds}; a pause cannot be negative"


def _smaller(one: Number | None, other: Number | None) -> Number | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def _narrower(one: DailyWindow | None, other: DailyWindow | None) -> DailyWindow | None:
    if one is None or other is None:
        return other if one is None else one
    shared = one.overlap(other)
    if shared is None:
        raise ValueError(f"no hour is off peak for both: {one} and {other}; choose others")
    return shared


NO_LIMITS = Limits()
