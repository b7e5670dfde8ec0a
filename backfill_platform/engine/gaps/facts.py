"""Gathers what tells of gaps: one look at each Delta log, a few queries for each table. No JVM.

Nothing is read for each partition. What would need more than the newest figures is bounded where it
is gathered: late data in `late_data`, commits that no run explains in `loose_commits`. What is
gathered of a table is handed on before the next one is looked at, so that years of hundreds of
tables are never in memory at once.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from backfill_platform.domain.catalog import Catalog
from backfill_platform.domain.gaps import AcceptedDays, EndedRun, GapKind, NotedGap
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.tables import TableSpec
from backfill_platform.engine.gaps.late_data import ChangingInput, late_days
from backfill_platform.engine.gaps.loose_commits import loose_commits
from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.delta_files import HeldRows
from backfill_platform.lakehouse.delta_tables import read_held_rows
from backfill_platform.planner.gap_facts import GapFacts, HeldInput, TableFacts
from backfill_platform.sources.files import landed_at

MOST_ENDED = 20  # runs of a table that failed, and as many that expired; the newest

EndedRuns = Mapping[str, tuple[EndedRun, ...]]  # by table


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """As it is now, for itself and for all that read it."""

    held: HeldRows | None
    accepted: AcceptedDays

    @property
    def rows(self) -> Mapping[date, int]:
        return self.held.rows if self.held else {}


_Source = Mapping[date, datetime]  # when each day landed


def gather_gap_facts(
    platform: Platform,
    tables: Sequence[str],
    noted: Mapping[str, NotedGap],
    ended: EndedRuns,
) -> Iterator[GapFacts]:
    """Of one table after the other; `noted` is what earlier looks found and still lasts."""
    specs = [platform.catalog.tables[name] for name in tables]
    seen = _Seen(platform, specs)
    for spec in specs:
        yield GapFacts(
            today=platform.clock().date(),
            tables=(_facts(platform, spec, seen, noted, ended),),
            inputs={used.name: seen.held_input(used.name) for used in spec.inputs},
        )
        seen.is_done_with(spec)


def read_ended(platform: Platform, tables: Sequence[str]) -> EndedRuns:
    """The newest first."""
    states = (RunState.FAILED, RunState.EXPIRED)
    found = platform.ledger.ended_runs(tables, states, limit=MOST_ENDED)
    return {
        table: tuple(sorted(runs, key=lambda run: (run.ended_at, run.run_id), reverse=True))
        for table, runs in found.items()
    }


def in_families(catalog: Catalog, tables: Sequence[str]) -> tuple[str, ...]:
    """What reads a table comes soon after it, so that few tables have to be remembered at once."""
    readers: defaultdict[str, list[str]] = defaultdict(list)
    for name in tables:
        for used in catalog.tables[name].inputs:
            readers[used.name].append(name)
    placed: dict[str, None] = {}

    def place(name: str) -> None:
        if name not in placed:
            placed[name] = None
            for reader in readers[name]:
                place(reader)

    for name in tables:
        place(name)
    return tuple(placed)


class _Seen:
    """Tables and sources are looked at once, and forgotten when the last that asks for them has."""

    def __init__(self, platform: Platform, specs: Iterable[TableSpec]) -> None:
        self._platform = platform
        self._asked = Counter(name for spec in specs for name in _names(spec))
        self._tables: dict[str, _Table] = {}
        self._sources: dict[str, _Source] = {}

    def table(self, name: str) -> _Table:
        if name not in self._tables:
            path = self._platform.warehouse.table_path(name)
            held, accepted = read_held_rows(path), self._platform.ledger.accepted_days(name)
            self._tables[name] = _Table(held=held, accepted=accepted)
        return self._tables[name]

    def held_input(self, name: str) -> HeldInput:
        if name in self._platform.catalog.tables:
            return _of_table(self._platform.catalog.tables[name], self.table(name))
        source = self._platform.catalog.sources[name]
        return HeldInput(
            start=source.start,
            days=frozenset(self._source(name)),
            retention_days=source.retention_days,
            is_source=True,
        )

    def changing_input(self, name: str) -> ChangingInput:
        if name not in self._platform.catalog.tables:
            return ChangingInput(changed_at=self._source(name), rows=None)
        seen = self.table(name)
        changed_at = {day: one.accepted_at for day, one in seen.accepted.items()}
        return ChangingInput(changed_at=changed_at, rows=seen.rows)

    def is_done_with(self, spec: TableSpec) -> None:
        for name in _names(spec):
            self._asked[name] -= 1
            if not self._asked[name]:
                self._tables.pop(name, None)
                self._sources.pop(name, None)

    def _source(self, name: str) -> _Source:
        if name not in self._sources:
            source = self._platform.catalog.sources[name]
            self._sources[name] = landed_at(self._platform.landing, source)
        return self._sources[name]


def _names(spec: TableSpec) -> tuple[str, ...]:
    return tuple(dict.fromkeys((spec.full_name, *(used.name for used in spec.inputs))))


def _of_table(spec: TableSpec, seen: _Table) -> HeldInput:
    empty = (day for day, one in seen.accepted.items() if not one.row_count)
    return HeldInput(
        start=spec.start,
        days=frozenset(seen.rows),
        empty_days=frozenset(day for day in empty if day not in seen.rows),
        retention_days=spec.retention_days,
    )


def _facts(
    platform: Platform,
    spec: TableSpec,
    seen: _Seen,
    noted: Mapping[str, NotedGap],
    ended: EndedRuns,
) -> TableFacts:
    own = seen.table(spec.full_name)
    of_table = [gap for gap in noted.values() if gap.table == spec.full_name]
    late = [gap for gap in of_table if gap.kind is GapKind.LATE_DATA]
    loose = [gap for gap in of_table if gap.kind is GapKind.UNEXPLAINED_COMMIT]
    version = own.held.version if own.held else None
    changing = {used.name: seen.changing_input(used.name) for used in spec.inputs}
    return TableFacts(
        spec=spec,
        rows=own.rows,
        accepted=own.accepted,
        ended=ended[spec.full_name],
        commits=loose_commits(platform, spec.full_name, version, loose),
        late=late_days(platform, spec, own.accepted, changing, late),
    )
