"""How large a world is, how it was filled, and where it lies."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from pathlib import Path

from backfill_platform.domain.partitions import DayRange

LIVE_DAYS = 30  # the newest; each was published by a daily run of its own
RUN_DAYS = 30  # of each run that filled the days before


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    tables: int
    days: int

    @property
    def partitions(self) -> int:
        return self.tables * self.days

    @property
    def name(self) -> str:
        return f"{self.tables}x{self.days}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A generated world on the disk."""

    home: Path
    size: Size
    today: date

    @property
    def days(self) -> DayRange:
        """Up to yesterday."""
        return DayRange(self.today - timedelta(days=self.size.days), self.today)

    @property
    def ledger(self) -> Path:
        return self.home / "ledger.db"

    def parts(self) -> Iterator[DayRange]:
        """As the days were published, the oldest first."""
        live = self.days.end_exclusive - timedelta(days=min(LIVE_DAYS, self.size.days))
        if self.days.start < live:
            yield from DayRange(self.days.start, live).split(RUN_DAYS)
        yield from (DayRange.of_day(day) for day in DayRange(live, self.days.end_exclusive))

    def keep(self) -> None:
        said = {**asdict(self.size), "today": self.today.isoformat()}
        (self.home / "world.json").write_text(json.dumps(said), encoding="utf-8")


def find_place(home: Path) -> Place:
    said = json.loads((home / "world.json").read_text(encoding="utf-8"))
    size = Size(tables=said["tables"], days=said["days"])
    return Place(home=home, size=size, today=date.fromisoformat(said["today"]))
