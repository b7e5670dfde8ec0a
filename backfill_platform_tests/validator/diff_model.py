"""What a diff has to find, in a few lines of plain Python: shares nothing with Spark's."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

Key = tuple[date, str | None]
Row = Mapping[str, Any]
Side = Mapping[Key, Row]


@dataclass(frozen=True, kw_only=True)
class Moved:
    rows: int
    total: Decimal
    absolute: Decimal
    greatest: Decimal | None


@dataclass(frozen=True, kw_only=True)
class Expected:
    changes: Mapping[Key, tuple[str, tuple[str, ...]]]  # of rows that differ
    unchanged: int
    by_column: Mapping[str, int]
    drift: Mapping[str, Moved]


def expect(before: Side, after: Side, numbers: list[str]) -> Expected:
    told = {key: _told(before.get(key), after.get(key)) for key in {*before, *after}}
    changes = {key: said for key, said in told.items() if said[0] != "UNCHANGED"}
    columns = [name for _, named in changes.values() for name in named]
    return Expected(
        changes=changes,
        unchanged=len(told) - len(changes),
        by_column={name: columns.count(name) for name in set(columns)},
        drift={name: _moved(before, after, name) for name in numbers},
    )


def _told(old: Row | None, new: Row | None) -> tuple[str, tuple[str, ...]]:
    if old is None or new is None:
        return ("ADDED" if old is None else "REMOVED", ())
    differing = tuple(sorted(name for name in old if old[name] != new[name]))
    return ("CHANGED" if differing else "UNCHANGED", differing)


def _moved(before: Side, after: Side, name: str) -> Moved:
    keys = {*before, *after}
    found = [_distance(before.get(key, {}).get(name), after.get(key, {}).get(name)) for key in keys]
    moving = [distance for distance in found if distance]
    furthest = max(map(abs, moving), default=None)
    return Moved(
        rows=len(moving),
        total=sum(moving, Decimal(0)),
        absolute=sum(map(abs, moving), Decimal(0)),
        greatest=None if furthest is None else max(d for d in moving if abs(d) == furthest),
    )


def _distance(old: Any, new: Any) -> Decimal:
    match old, new:
        case (datetime(), datetime()):
            return Decimal(str((new - old).total_seconds()))
        case (date(), date()):
            return Decimal((new - old).days)
        case (date(), _) | (_, date()):
            return Decimal(0)  # no distance to nothing
        case _:
            return Decimal(new or 0) - Decimal(old or 0)
