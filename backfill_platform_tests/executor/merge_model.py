"""The rule of a keyed merge in plain Python: what Spark's plan is held against."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from backfill_platform.domain.merges import MergeCounts

Identity = tuple[int, str | None]


class Row(NamedTuple):
    group: int
    key: str | None
    version: int | None
    content: str | None
    operation: str
    run: str  # lineage: it does not make two rows different

    @property
    def identity(self) -> Identity:
        return self.group, self.key

    @property
    def says(self) -> tuple[object, ...]:
        return self[:-1]


def merge(base: Iterable[Row], changes: Iterable[Row]) -> list[Row]:
    """In an order of its own; a key with two changes keeps two rows."""
    kept = [kept for _, kept in _meetings(base, changes)]
    return sorted(kept, key=repr)


def count(base: Iterable[Row], changes: Iterable[Row]) -> MergeCounts:
    fates = [fate for fate, _ in _meetings(base, changes)]
    deleted = fates.count("deleted")
    return MergeCounts(
        applied=fates.count("applied") + deleted,
        deleted=deleted,
        stale=fates.count("stale"),
        repeated=fates.count("repeated"),
        untouched=fates.count("untouched"),
    )


def _meetings(base: Iterable[Row], changes: Iterable[Row]) -> list[tuple[str, Row]]:
    held = {row.identity: row for row in base}
    changed: defaultdict[Identity, list[Row]] = defaultdict(list)
    for change in changes:
        changed[change.identity].append(change)
    met = [_fate(held.get(key), change) for key, some in changed.items() for change in some]
    return met + [("untouched", row) for key, row in held.items() if key not in changed]


def _fate(held: Row | None, change: Row) -> tuple[str, Row]:
    if held is not None and held.says == change.says:
        return "repeated", held
    if held is not None and _is_older(change, held):
        return "stale", held
    return ("deleted" if change.operation == "DELETE" else "applied"), change


def _is_older(change: Row, held: Row) -> bool:
    if change.version is None or held.version is None:
        return False
    return change.version < held.version
