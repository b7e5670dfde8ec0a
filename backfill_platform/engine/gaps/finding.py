"""Looks for gaps in tables; writes nothing. No JVM."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from backfill_platform.domain.gaps import Gap, NotedGap
from backfill_platform.engine.gaps.facts import (
    EndedRuns,
    gather_gap_facts,
    in_families,
    read_ended,
)
from backfill_platform.engine.gaps.memory import GapMemory, read_marks
from backfill_platform.engine.platform import Platform
from backfill_platform.planner import gaps as planner

Noted = Mapping[str, NotedGap]  # by key: what earlier looks found, and still lasts

# A look of somebody who remembers may be continued by the next one. Dagster lets a tick have 60.
LONGEST = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundGaps:
    gaps: tuple[Gap, ...]  # inputs first
    tables: tuple[str, ...]  # that they are all gaps of
    left: tuple[str, ...] = ()  # that are still to be looked at


def find_gaps(platform: Platform, tables: Collection[str] = ()) -> tuple[Gap, ...]:
    """Of these tables, or of all."""
    asked = in_order(platform, tables)
    return find_gaps_beside(platform, asked, platform.ledger.lasting_gaps(asked)).gaps


def find_gaps_beside(
    platform: Platform, tables: tuple[str, ...], noted: Noted, memory: GapMemory | None = None
) -> FoundGaps:
    """With a memory only what has changed is looked at, and no longer than a tick may take: the
    next look goes on with what is left."""
    ended = read_ended(platform, tables)
    if memory is None:
        found = dict(_look(platform, tables, noted, ended))
        return FoundGaps(gaps=_joined(tables, found), tables=tables)
    return _find_changed(platform, tables, noted, ended, memory)


def in_order(platform: Platform, tables: Collection[str]) -> tuple[str, ...]:
    """Inputs first."""
    return tuple(name for name in platform.catalog.tables if not tables or name in tables)


def _find_changed(
    platform: Platform,
    tables: tuple[str, ...],
    noted: Noted,
    ended: EndedRuns,
    memory: GapMemory,
) -> FoundGaps:
    """Invariant: what is remembered is what a look would find
    (test_what_is_remembered_is_what_a_look_would_find)."""
    until = platform.clock() + LONGEST
    since = memory.counted_since(platform.clock())
    marks = read_marks(platform, tables, noted, ended, since=since)
    recalled = {table: memory.recall(table, marks[table]) for table in tables}
    found = {table: gaps for table, gaps in recalled.items() if gaps is not None}
    changed = memory.longest_ago_first([table for table in tables if table not in found])
    for table, gaps in _look(platform, changed, noted, ended):
        memory.keep(table, marks[table], gaps)
        found[table] = gaps
        if platform.clock() > until:
            break
    looked_at = tuple(table for table in tables if table in found)
    left = tuple(table for table in tables if table not in found)
    return FoundGaps(gaps=_joined(looked_at, found), tables=looked_at, left=left)


def _look(
    platform: Platform, tables: tuple[str, ...], noted: Noted, ended: EndedRuns
) -> Iterator[tuple[str, tuple[Gap, ...]]]:
    in_turn = in_families(platform.catalog, tables)
    for facts in gather_gap_facts(platform, in_turn, noted, ended):
        (table,) = facts.tables
        yield table.spec.full_name, planner.find_gaps(facts)


def _joined(tables: tuple[str, ...], found: Mapping[str, tuple[Gap, ...]]) -> tuple[Gap, ...]:
    return tuple(gap for table in tables for gap in found[table])
