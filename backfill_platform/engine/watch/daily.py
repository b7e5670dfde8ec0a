"""Which tables the ordinary daily load is about: those that lack the day and whose inputs have it.

What a source holds nothing for is left out with everything that reads it: a failed run each night
would say no more, and a gap is reported by whoever looks for gaps.
"""

from dataclasses import dataclass
from datetime import date

from backfill_platform.domain.modes import PublishMode, PublishScope
from backfill_platform.domain.partitions import Boundary
from backfill_platform.domain.tables import TableSpec
from backfill_platform.engine.platform import Platform
from backfill_platform.sources.files import day_files


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyLoad:
    day: date
    tables: tuple[str, ...]  # inputs come first
    missing: tuple[str, ...]  # sources and tables for which others wait

    @property
    def why_nothing(self) -> str:
        if self.missing:
            return f"{', '.join(self.missing)} holds nothing for {self.day}, so nothing is loaded"
        return f"every daily table has {self.day} already"


def find_daily_load(platform: Platform, day: date) -> DailyLoad:
    tables: list[str] = []
    missing: dict[str, None] = {}
    for name, spec in platform.catalog.tables.items():  # inputs come first
        if not _is_daily(spec, day) or _holds(platform, name, day):
            continue
        lacking = [
            used.name
            for used in spec.inputs
            if used.name not in tables and not _holds(platform, used.name, day)
        ]
        missing |= dict.fromkeys(lacking)
        if not lacking:
            tables.append(name)
    return DailyLoad(day=day, tables=tuple(tables), missing=tuple(missing))


def _is_daily(spec: TableSpec, day: date) -> bool:
    """What is computed by the month, swapped as a whole, or shown only after somebody has looked,
    is nothing that a night could load by itself."""
    return (
        spec.start <= day
        and spec.boundary is Boundary.DAY
        and spec.publish_mode is not PublishMode.SHADOW_SWAP
        and spec.publish_scope not in {PublishScope.DARK, PublishScope.DUAL_READ}
    )


def _holds(platform: Platform, name: str, day: date) -> bool:
    source = platform.catalog.sources.get(name)
    if source is not None:
        return bool(day_files(platform.landing, source, day))
    return day in platform.ledger.accepted(name, (day,))
