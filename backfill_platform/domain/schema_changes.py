"""How the columns that a run publishes differ from those that its target has now.

Harmless changes keep every old row readable and every consumer's query right. The others need the
requester's explicit consent, column by column, and stand in the manifest that owners approve. What
a change asks of the old rows is judged in `planner.schema_reasons`.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from backfill_platform.domain.contracts import Column


class SchemaChangeKind(StrEnum):
    ADDED = "ADDED"  # a nullable column; old rows show null
    WIDENED = "WIDENED"  # every old value fits the new type
    RELAXED = "RELAXED"  # may be null from now on
    REMOVED = "REMOVED"  # consumers lose a column
    NARROWED = "NARROWED"  # old values may not fit, so every old partition has to be replaced
    TIGHTENED = "TIGHTENED"  # may not be null any more, which old rows must not contradict

    @property
    def needs_consent(self) -> bool:
        return self not in (self.ADDED, self.WIDENED)

    @property
    def binds_old_rows(self) -> bool:
        """What lies there already has to keep it too, or to be replaced."""
        return self in (self.NARROWED, self.TIGHTENED)

    @property
    def must_be_undone(self) -> bool:
        """Whoever takes the rows back that it replaced needs the former column for them."""
        return self is self.REMOVED or self.binds_old_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaChange:
    kind: SchemaChangeKind
    column: str
    before: str | None  # Delta's name of the type; nothing where there was no column
    after: str | None


_K = SchemaChangeKind
_NULLS_AFTER = {_K.ADDED: True, _K.RELAXED: True, _K.TIGHTENED: False}
_INTEGERS = ("byte", "short", "integer", "long")
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")


def compare_schemas(
    before: tuple[Column, ...], after: tuple[Column, ...]
) -> tuple[SchemaChange, ...]:
    """What has to happen to the columns of `before`, by name; their order does not count.

    A column may change in two ways at once: in its type, and in whether it may be null. A new one
    that may not be null is ADDED, and TIGHTENED because old rows have nothing there.
    """
    there = {column.name: column for column in before}
    wanted = {column.name: column for column in after}
    return tuple(
        SchemaChange(
            kind=kind,
            column=name,
            before=there[name].type if name in there else None,
            after=wanted[name].type if name in wanted else None,
        )
        for name in sorted(there.keys() | wanted.keys())
        for kind in _kinds(there.get(name), wanted.get(name))
    )


def apply_changes(
    columns: tuple[Column, ...], changes: Iterable[SchemaChange]
) -> tuple[Column, ...]:
    """The columns once all of this has happened to them; what has happened already stays."""
    after = {column.name: column for column in columns}
    for change in changes:
        if change.after is None:
            after.pop(change.column, None)
            continue
        there = after.get(change.column)
        may_be_null = there is None or there.is_nullable
        after[change.column] = Column(
            name=change.column,
            type=change.after,
            is_nullable=_NULLS_AFTER.get(change.kind, may_be_null),
        )
    return tuple(after.values())


def is_widening(before: str, after: str) -> bool:
    """Whether files that hold the one type are read rightly as the other, by every reader and
    without a newer protocol; what was tried stands in docs/adr/0010-schema-changes.md."""
    if before in _INTEGERS and after in _INTEGERS:
        return _INTEGERS.index(before) < _INTEGERS.index(after)
    old, new = _DECIMAL.fullmatch(before), _DECIMAL.fullmatch(after)
    if old is None or new is None:
        return False
    (precision, scale), (wider, finer) = map(int, old.groups()), map(int, new.groups())
    return before != after and scale <= finer and precision - scale <= wider - finer


def alike_names(columns: tuple[Column, ...], others: tuple[Column, ...]) -> tuple[str, ...]:
    """Names that differ in upper and lower case alone: Spark takes them for one column."""
    by_folded: defaultdict[str, set[str]] = defaultdict(set)
    for column in (*columns, *others):
        by_folded[column.name.casefold()].add(column.name)
    return tuple(sorted(name for names in by_folded.values() if len(names) > 1 for name in names))


def _kinds(before: Column | None, after: Column | None) -> Iterator[SchemaChangeKind]:
    if after is None:
        yield _K.REMOVED
        return
    if before is None:
        yield _K.ADDED
    elif before.type != after.type:
        yield _K.WIDENED if is_widening(before.type, after.type) else _K.NARROWED
    was_nullable = before is None or before.is_nullable
    if was_nullable != after.is_nullable:
        yield _K.RELAXED if after.is_nullable else _K.TIGHTENED
