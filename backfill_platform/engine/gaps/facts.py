"""Gathers what tells of gaps: one look at each Delta log, a few queries for each table. No JVM.

Nothing is read for each partition. What would need more than the newest figures is bounded where it
is gathered: late data in `late_data`, commits that no run explains in `loose_commits`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from backfill_platform.domain.gaps import AcceptedDays, EndedRun, GapKind, NotedGap
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.tables import TableSpec
from backfill_platform.engine.gaps.late_data import ChangingInput, late_days
from backfill_platform.engine.gaps.loose_commits import loose_commits
from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.delta_files import TableState
from backfill_platform.lakehouse.delta_tables import read_table_state
from backfill_platform.planner.gap_facts import GapFacts, HeldInput, TableFacts
from backfill_platform.sources.files import landed_at

MOST_ENDED = 20  # runs of a table that failed, and as many that expired; the newest


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """A table as it is now; looked at once, however many others read it."""

    state: TableState | None
    rows: Mapping[date, int]
    accepted: AcceptedDays


def gather_gap_facts(
    platform: Platform, tables: Sequence[str], noted: Mapping[str, NotedGap]
) -> GapFacts:
    """Of these tables, inputs first; `noted` is what earlier looks found and still lasts."""
    specs = [platform.catalog.tables[name] for name in tables]
    read = dict.fromkeys([*tables, *(used.name for spec in specs for used in spec.inputs)])
    seen = {name: _look(platform, name) for name in read if name in platform.catalog.tables}
    landed = {
        name: landed_at(platform.landing, platform.catalog.sources[name])
        for name in read
        if name not in seen
    }
    inputs = {name: _of_table(platform, name, seen[name]) for name in seen}
    inputs |= {name: _of_source(platform, name, landed[name]) for name in landed}
    changed = {name: _of_accepted(seen[name]) for name in seen}
    changed |= {name: ChangingInput(changed_at=landed[name], rows=None) for name in landed}
    return GapFacts(
        today=platform.clock().date(),
        tables=tuple(_facts(platform, spec, seen, changed, noted) for spec in specs),
        inputs=inputs,
    )


def _look(platform: Platform, table: str) -> _Seen:
    state = read_table_state(platform.warehouse.table_path(table), None)
    return _Seen(
        state=state,
        rows=state.row_counts if state else {},
        accepted=platform.ledger.accepted_days(table),
    )


def _of_table(platform: Platform, name: str, seen: _Seen) -> HeldInput:
    spec = platform.catalog.tables[name]
    empty = (day for day, one in seen.accepted.items() if not one.row_count)
    return HeldInput(
        start=spec.start,
        days=frozenset(seen.rows),
        empty_days=frozenset(day for day in empty if day not in seen.rows),
        retention_days=spec.retention_days,
    )


def _of_source(platform: Platform, name: str, landed: Mapping[date, datetime]) -> HeldInput:
    source = platform.catalog.sources[name]
    return HeldInput(
        start=source.start,
        days=frozenset(landed),
        retention_days=source.retention_days,
        is_source=True,
    )


def _of_accepted(seen: _Seen) -> ChangingInput:
    changed_at = {day: one.accepted_at for day, one in seen.accepted.items()}
    return ChangingInput(changed_at=changed_at, rows=seen.rows)


def _facts(
    platform: Platform,
    spec: TableSpec,
    seen: Mapping[str, _Seen],
    changed: Mapping[str, ChangingInput],
    noted: Mapping[str, NotedGap],
) -> TableFacts:
    own = seen[spec.full_name]
    of_table = [gap for gap in noted.values() if gap.table == spec.full_name]
    late = [gap for gap in of_table if gap.kind is GapKind.LATE_DATA]
    loose = [gap for gap in of_table if gap.kind is GapKind.UNEXPLAINED_COMMIT]
    return TableFacts(
        spec=spec,
        rows=own.rows,
        accepted=own.accepted,
        ended=_ended(platform, spec.full_name),
        commits=loose_commits(platform, spec.full_name, own.state, loose),
        late=late_days(platform, spec, own.accepted, changed, late),
    )


def _ended(platform: Platform, table: str) -> tuple[EndedRun, ...]:
    found = (
        run
        for state in (RunState.FAILED, RunState.EXPIRED)
        for run in platform.ledger.ended_runs(table, state, limit=MOST_ENDED)
    )
    return tuple(sorted(found, key=lambda run: (run.ended_at, run.run_id), reverse=True))
