"""What a process remembers of the gaps it has found: good for as long as nothing has changed.

A table's gaps follow from its log, from what is accepted of it and of its inputs, from when its
sources landed, from runs that ended, and from today. A mark of each is quickly read; the logs and
years of accepted days behind them are not. So a look that is repeated each minute opens only what
has changed since. A mark is read before what it stands for: whatever changes meanwhile has another
one at the next look. Lost with its process; the first look of the next one opens everything.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from backfill_platform.domain.gaps import EndedRun, Gap, GapKind, LastChange, NotedGap
from backfill_platform.domain.tables import TableSpec
from backfill_platform.engine.gaps.facts import EndedRuns
from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.delta_log import LogMark, read_log_mark
from backfill_platform.sources.files import landing_mark

# A fact is stamped before its transaction ends, so one with an earlier stamp may be seen later.
_SETTLING = timedelta(hours=1)

_LOOKED_INTO_AGAIN = frozenset({GapKind.LATE_DATA, GapKind.UNEXPLAINED_COMMIT})


@dataclass(frozen=True, slots=True, kw_only=True)
class _TableMark:
    log: LogMark | None
    change: LastChange | None  # of what is accepted


_OwnMark = _TableMark | int  # of a source it is a number


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """All that the gaps of one table follow from; equal marks, equal gaps."""

    today: date
    own: _OwnMark
    inputs: tuple[_OwnMark, ...]
    ended: tuple[EndedRun, ...]
    noted: frozenset[tuple[str, str]]  # of those that a look goes back to: keys and days


class GapMemory:
    """Of one process; whoever looks in another one has its own."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Mark, tuple[Gap, ...]]] = {}
        self._counted_since: datetime | None = None

    def keep(self, table: str, mark: Mark, gaps: Iterable[Gap]) -> None:
        self._known.pop(table, None)  # so that those looked at last stand last
        self._known[table] = (mark, tuple(gaps))

    def recall(self, table: str, mark: Mark) -> tuple[Gap, ...] | None:
        known = self._known.get(table)
        return known[1] if known and known[0] == mark else None

    def longest_ago_first(self, tables: Sequence[str]) -> tuple[str, ...]:
        """Those first that were never looked at."""
        place = {table: at for at, table in enumerate(self._known)}
        return tuple(sorted(tables, key=lambda table: place.get(table, -1)))

    def counted_since(self, now: datetime) -> datetime:
        """The same for as long as possible, or else equal histories would have other marks."""
        since = self._counted_since
        if since is None or (since + _SETTLING).date() != now.date():
            self._counted_since = since = now - _SETTLING
        return since


def read_marks(
    platform: Platform,
    tables: Sequence[str],
    noted: Mapping[str, NotedGap],
    ended: EndedRuns,
    *,
    since: datetime,
) -> dict[str, Mark]:
    specs = [platform.catalog.tables[table] for table in tables]
    marks = _marks(platform, specs, platform.ledger.changes_since(since))
    again = _looked_into_again(noted.values())
    return {
        spec.full_name: Mark(
            today=platform.clock().date(),
            own=marks[spec.full_name],
            inputs=tuple(marks[used.name] for used in spec.inputs),
            ended=ended[spec.full_name],
            noted=frozenset(again.get(spec.full_name, ())),
        )
        for spec in specs
    }


def _looked_into_again(noted: Iterable[NotedGap]) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for gap in noted:
        if gap.kind in _LOOKED_INTO_AGAIN:
            found.setdefault(gap.table, []).append((gap.key, str(gap.days)))
    return found


def _marks(
    platform: Platform, specs: Sequence[TableSpec], changes: Mapping[str, LastChange]
) -> dict[str, _OwnMark]:
    """Of the tables and of all that they read, each once."""
    own = [spec.full_name for spec in specs]
    names = dict.fromkeys([*own, *(used.name for spec in specs for used in spec.inputs)])
    return {name: _mark(platform, name, changes.get(name)) for name in names}


def _mark(platform: Platform, name: str, change: LastChange | None) -> _OwnMark:
    if name not in platform.catalog.tables:
        return landing_mark(platform.landing, platform.catalog.sources[name])
    return _TableMark(log=read_log_mark(platform.warehouse.table_path(name)), change=change)
