"""The shapes of data that are asked of, and how often."""

from dataclasses import dataclass
from datetime import timedelta

from backfill_platform.domain.partitions import DayRange
from backfill_platform.enforcement.bronze import FIRST_DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    name: str
    days: int
    events_a_day: int

    @property
    def range(self) -> DayRange:
        return DayRange(FIRST_DAY, FIRST_DAY + timedelta(days=self.days))

    @property
    def said(self) -> str:
        return f"{self.days} days of {self.events_a_day:,} events"


FEW_BIG = Shape(name="few-big", days=10, events_a_day=200_000)
MONTH_BIG = Shape(name="month-big", days=30, events_a_day=200_000)
MANY_SMALL = Shape(name="many-small", days=90, events_a_day=2_000)
LITTLE_CHANGED = Shape(name="little-changed", days=90, events_a_day=20_000)
SHAPES = {one.name: one for one in (FEW_BIG, MONTH_BIG, MANY_SMALL, LITTLE_CHANGED)}
