"""Unattended repairs among the runs, and the other runs that tell of gaps.

Each query is bounded by an index, and reads manifests only where they are few: a look each minute
must not take longer the more runs there have ever been.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from datetime import date, datetime
from typing import Any

import sqlalchemy as sa

from backfill_platform.domain.gaps import AcceptedDay, EndedRun, LastChange
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import DARK
from backfill_platform.domain.modes import ExecutionMode, RunKind
from backfill_platform.domain.repairs import (
    RepairRun,
    is_repair_origin,
    read_repair_origin,
    repair_group,
)
from backfill_platform.domain.runs import PublicationFact, RunRecord
from backfill_platform.ledger.runs import read_run
from backfill_platform.ledger.schema import accepted_output, publication, run

_MOST_KEYS = 500  # in one statement
_PUBLISHING_MODES = (ExecutionMode.BACKFILL, ExecutionMode.REPLAY, ExecutionMode.LIVE)

_REPAIR_COLUMNS: tuple[sa.ColumnElement[Any], ...] = (
    run.c.run_id,
    run.c.origin,
    run.c.table_name,
    run.c.state,
    run.c.days,
    run.c.planned_at,
    run.c.updated_at,
    run.c.valid_until,
)


def read_tried(
    connection: sa.Connection, gap_keys: Sequence[str]
) -> dict[str, tuple[RepairRun, ...]]:
    """By gap, the first attempt first."""
    tried: defaultdict[str, list[RepairRun]] = defaultdict(list)
    for start in range(0, len(gap_keys), _MOST_KEYS):
        groups = [repair_group(key) for key in gap_keys[start : start + _MOST_KEYS]]
        rows = connection.execute(
            sa.select(*_REPAIR_COLUMNS)
            .where(run.c.group_id.in_(groups), run.c.kind == RunKind.REPAIR.value)
            .order_by(run.c.planned_at, run.c.run_id)
        )
        for row in rows:
            if is_repair_origin(row.origin):
                found = _read_repair(row)
                tried[found.gap_key].append(found)
    return {key: tuple(sorted(runs, key=lambda one: one.attempt)) for key, runs in tried.items()}


def read_planned_since(
    connection: sa.Connection, tables: Collection[str], since: datetime
) -> tuple[RunRecord, ...]:
    """Unattended repairs, the oldest first."""
    rows = connection.execute(
        sa.select(run)
        .where(
            run.c.table_name.in_(tables),
            run.c.planned_at >= since,
            run.c.kind == RunKind.REPAIR.value,
        )
        .order_by(run.c.planned_at, run.c.run_id)
    )
    return tuple(read_run(row) for row in rows if is_repair_origin(row.origin))


def read_ended(
    connection: sa.Connection, tables: Collection[str], states: Collection[RunState], limit: int
) -> dict[str, tuple[EndedRun, ...]]:
    """By table; of each state the newest first, and no more than that many: runs that would have
    published, and no unattended repairs: what became of these is told by the gap that they were
    for."""
    return {
        table: tuple(
            run for state in states for run in _read_ended(connection, table, state, limit)
        )
        for table in tables
    }


def read_accepted_days(connection: sa.Connection, table: str) -> dict[date, AcceptedDay]:
    """Of every day that consumers see; without what only its publication needs."""
    columns = accepted_output.c
    rows = connection.execute(
        sa.select(
            columns.day,
            columns.run_id,
            columns.row_count,
            columns.target_version,
            columns.accepted_at,
        ).where(columns.table_name == table, columns.superseded_at.is_(None))
    ).all()  # years of days: one after the other takes much longer
    return {
        day: AcceptedDay(
            run_id=run_id, row_count=row_count, target_version=version, accepted_at=accepted_at
        )
        for day, run_id, row_count, version, accepted_at in rows
    }


def read_changes(connection: sa.Connection, since: datetime) -> dict[str, LastChange]:
    """A fact is the only thing that changes what is accepted. They are counted here: where it is
    asked to group them by table, SQLite walks through every publication that ever was."""
    facts: defaultdict[str, list[datetime]] = defaultdict(list)
    recorded = sa.select(publication.c.table_name, publication.c.fact_at).where(
        publication.c.fact_at >= since
    )
    for table, fact_at in connection.execute(recorded):
        facts[table].append(fact_at)
    return {
        table: LastChange(facts=len(instants), newest_at=max(instants))
        for table, instants in facts.items()
    }


def read_landed_versions(connection: sa.Connection, table: str, at_least: int) -> frozenset[int]:
    """Of the target, in which publications landed."""
    landed = sa.select(publication.c.version).where(
        publication.c.table_name == table,
        publication.c.version >= at_least,
        publication.c.outcome == PublicationFact.LANDED.value,
    )
    return frozenset(connection.scalars(landed))


def is_intended(connection: sa.Connection, publication_id: str) -> bool:
    """Whether a run meant to publish under this name, however that ended."""
    known = sa.select(publication.c.publication_id).where(
        publication.c.publication_id == publication_id
    )
    return connection.execute(known).first() is not None


def _read_ended(
    connection: sa.Connection, table: str, state: RunState, limit: int
) -> Iterator[EndedRun]:
    rows = connection.execute(
        sa.select(run.c.run_id, run.c.origin, run.c.days, run.c.updated_at)
        .where(
            run.c.table_name == table,
            run.c.state == state.value,
            run.c.mode.in_([mode.value for mode in _PUBLISHING_MODES]),
            run.c.kind != RunKind.ROLLBACK.value,
            run.c.days.is_not(None),
            ~run.c.manifest_json.contains(DARK, autoescape=True),
        )
        .order_by(run.c.planned_at.desc(), run.c.run_id.desc())
        .limit(limit)
    )
    for row in rows:
        if not is_repair_origin(row.origin):
            yield EndedRun(run_id=row.run_id, state=state, days=row.days, ended_at=row.updated_at)


def _read_repair(row: sa.Row[Any]) -> RepairRun:
    gap_key, attempt = read_repair_origin(row.origin)
    return RepairRun(
        run_id=row.run_id,
        gap_key=gap_key,
        attempt=attempt,
        table=row.table_name,
        state=RunState(row.state),
        days=row.days,
        planned_at=row.planned_at,
        updated_at=row.updated_at,
        valid_until=row.valid_until,
    )
