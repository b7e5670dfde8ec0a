"""How much a run may take at a time and in all; what keeps a slow correct run from an incident."""

from dataclasses import dataclass
from datetime import datetime, time
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyWindow:
    """The hours of each day, in UTC, in which chunks may begin; it may go past midnight."""

    start: str  # 22:00
    end: str  # 06:00

    def __post_init__(self) -> None:
        if time.fromisoformat(self.start) == time.fromisoformat(self.end):
            raise ValueError(f"a window must end at another time than it starts: {self.start}")

    def is_open(self, now: datetime) -> bool:
        start, end = time.fromisoformat(self.start), time.fromisoformat(self.end)
        at = now.time()
        return start <= at < end if start < end else at >= start or at < end


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


NO_LIMITS = Limits()
