"""Gathers what a rollback has to know of columns: those of now, and those of the rows that return.

The whole table is looked at only where the run has taken something from its columns.
"""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.lakehouse.delta_files import TableState
from backfill_platform.lakehouse.delta_tables import read_table_state
from backfill_platform.lakehouse.former_files import former_state
from backfill_platform.planner.owed import History
from backfill_platform.planner.rollback_facts import FormerDay, FormerSchema


def gather_former_schema(
    path: Path,
    undone: Manifest,
    histories: Mapping[date, History],
    before: Mapping[date, FormerDay],
) -> FormerSchema | None:
    now = read_table_state(path, undone.target.partitions)
    if now is None:
        return None
    states = _states_by_day(path, before)
    changes = undone.target.schema_changes
    first = _first_landing(undone.run_id, histories)
    known = FormerSchema(
        now=now.columns, columns_of={day: state.columns for day, state in states.items()}
    )
    if first is None or not any(change.kind.must_be_undone for change in changes):
        return known
    return _with_whole_table(path, known, first, states)


def _with_whole_table(
    path: Path, known: FormerSchema, first: int, states: Mapping[date, TableState]
) -> FormerSchema:
    now, then = read_table_state(path, None), former_state(path, first - 1, None)
    left = former_state(path, first, None)
    return FormerSchema(
        now=known.now,
        columns_of=known.columns_of,
        before=then.columns if then else None,
        left=left.columns if left else None,
        held_now=now.fingerprints if now else {},
        held_before=then.fingerprints if then else {},
        returning={day: state.fingerprints[day] for day, state in states.items()},
    )


def _states_by_day(path: Path, before: Mapping[date, FormerDay]) -> dict[date, TableState]:
    """A version that can no longer be read is missing here; `rollback_reasons` says so."""
    found: dict[date, TableState] = {}
    for version in {former.version for former in before.values()}:
        days = PartitionSet.of_days(day for day, one in before.items() if one.version == version)
        state = former_state(path, version, days)
        found |= dict.fromkeys(days, state) if state else {}
    return found


def _first_landing(run_id: RunId, histories: Mapping[date, History]) -> int | None:
    own = (entry for history in histories.values() for entry in history if entry.run_id == run_id)
    return min((entry.target_version for entry in own), default=None)
