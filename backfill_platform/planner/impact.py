"""Which tables, and which of their days, follow when days of a table change. Pure graph walking.

An output day D reads input days D - warm-up to D + lateness; so an input day X that changes reaches
the output days X - lateness to X + warm-up. Whether they are restated is somebody's decision.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date

from backfill_platform.domain.catalog import Catalog
from backfill_platform.domain.impacts import Impact
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.tables import Input, TableSpec


def downstream_impact(
    catalog: Catalog, table: str, days: PartitionSet, today: date
) -> tuple[Impact, ...]:
    """Every table that reads this one, directly or through others, in the catalog's order."""
    changed: dict[str, PartitionSet] = {table: days}
    impacts: list[Impact] = []
    for name, spec in catalog.tables.items():  # inputs come first
        through = tuple(one for one in changed if _reads(spec, one))
        affected = _affected_days(spec, changed, today)
        if affected is not None:
            impacts.append(
                Impact(table=name, days=affected, owner=spec.owner, through=", ".join(through))
            )
            changed[name] = affected
    return tuple(impacts)


def direct_impact(
    catalog: Catalog, table: str, days: PartitionSet, today: date
) -> dict[str, PartitionSet]:
    """By table that reads this one itself: what follows from those is theirs to say."""
    reached = {
        name: _affected_days(spec, {table: days}, today)
        for name, spec in catalog.tables.items()
        if _reads(spec, table)
    }
    return {name: affected for name, affected in reached.items() if affected is not None}


def _reads(spec: TableSpec, table: str) -> bool:
    return any(used.name == table for used in spec.inputs)


def _affected_days(
    spec: TableSpec, changed: Mapping[str, PartitionSet], today: date
) -> PartitionSet | None:
    if today < spec.start:
        return None
    known = DayRange.closed(spec.start, today)
    reached = (days for used in spec.inputs for days in _reached_ranges(used, changed))
    clipped = (days.clip(known) for days in reached)
    whole = [days.widen_to(spec.boundary) for days in clipped if days is not None]
    return _union(whole) if whole else None


def _reached_ranges(used: Input, changed: Mapping[str, PartitionSet]) -> Iterator[DayRange]:
    if used.name in changed:
        for days in changed[used.name].ranges:
            yield days.widen(before_days=used.late_days, after_days=used.warm_up_days)


def _union(ranges: Iterable[DayRange]) -> PartitionSet:
    return PartitionSet.of_days(day for days in ranges for day in days)
