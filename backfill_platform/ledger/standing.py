"""Runs as they stand: since when, and why, without their manifests."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from backfill_platform.domain.alert_facts import StandingRun
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import NEVER_PUBLISHING
from backfill_platform.domain.modes import ExecutionMode
from backfill_platform.ledger.schema import run, run_event

STANDING = (
    run.c.run_id,
    run.c.table_name,
    run.c.state,
    run.c.mode,
    run.c.actor,
    run.c.reason,
    run.c.days,
    run.c.updated_at,
)


def standing_runs(connection: sa.Connection, rows: Sequence[Any]) -> tuple[StandingRun, ...]:
    entered = _read_entries(connection, [row.run_id for row in rows])
    return tuple(_standing(row, entered) for row in rows)


def _read_entries(
    connection: sa.Connection, run_ids: Collection[str]
) -> dict[str, tuple[datetime, str]]:
    """By run: when its state became what it is, and why; a note leaves it as it was."""
    entered = (
        sa.select(run_event.c.run_id, sa.func.max(run_event.c.seq).label("seq"))
        .where(
            run_event.c.run_id.in_(sorted(run_ids)),
            run_event.c.from_state.is_distinct_from(run_event.c.to_state),
        )
        .group_by(run_event.c.run_id)
        .subquery()
    )
    rows = connection.execute(
        sa.select(run_event.c.run_id, run_event.c.at, run_event.c.cause).join(
            entered,
            sa.and_(entered.c.run_id == run_event.c.run_id, entered.c.seq == run_event.c.seq),
        )
    )
    return {row.run_id: (row.at, row.cause) for row in rows}


def _standing(row: Any, entered: dict[str, tuple[datetime, str]]) -> StandingRun:
    at, cause = entered[row.run_id]
    return StandingRun(
        run_id=RunId(row.run_id),
        table=row.table_name,
        state=RunState(row.state),
        actor=row.actor,
        reason=row.reason,
        days=row.days,
        entered_at=at,
        cause=cause,
        never_publishes=ExecutionMode(row.mode) in NEVER_PUBLISHING,
    )
