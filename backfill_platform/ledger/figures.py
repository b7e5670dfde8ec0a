"""How everything stands, in four statements whatever has happened before.

Counts are read as they were added up. Runs are counted from an index alone; how long one has stood
where it is, is asked of those that are still on their way; what is accepted, of what is seen now.
"""

import sqlalchemy as sa

from backfill_platform.domain.ledger_figures import (
    LedgerFigures,
    LongestInState,
    Reach,
    RunsInState,
)
from backfill_platform.domain.lifecycle import IN_FLIGHT, RunState
from backfill_platform.domain.modes import RunKind
from backfill_platform.ledger.schema import accepted_output, run, run_event
from backfill_platform.ledger.tallies import read_tallies


def read_figures(connection: sa.Connection) -> LedgerFigures:
    return LedgerFigures(
        tallies=read_tallies(connection),
        runs=_count_runs(connection),
        longest=_find_longest(connection),
        reaches=_find_reaches(connection),
    )


def _count_runs(connection: sa.Connection) -> tuple[RunsInState, ...]:
    columns = (run.c.state, run.c.table_name, run.c.kind)
    rows = connection.execute(
        sa.select(*columns, sa.func.count().label("runs")).group_by(*columns).order_by(*columns)
    )
    return tuple(
        RunsInState(
            table=row.table_name, kind=RunKind(row.kind), state=RunState(row.state), runs=row.runs
        )
        for row in rows
    )


def _find_longest(connection: sa.Connection) -> tuple[LongestInState, ...]:
    """An approval is an event too, and leaves a run where it is."""
    came = (
        sa.select(sa.func.max(run_event.c.at))
        .where(
            run_event.c.run_id == run.c.run_id,
            run_event.c.to_state == run.c.state,
            run_event.c.from_state.is_distinct_from(run_event.c.to_state),
        )
        .scalar_subquery()
    )
    standing = (
        sa.select(run.c.table_name, run.c.state, came.label("since"))
        .where(run.c.state.in_(sorted(state.value for state in IN_FLIGHT)))
        .subquery()
    )
    place = (standing.c.table_name, standing.c.state)
    rows = connection.execute(
        sa.select(*place, sa.func.min(standing.c.since).label("since"))
        .group_by(*place)
        .order_by(*place)
    )
    return tuple(
        LongestInState(table=row.table_name, state=RunState(row.state), since=row.since)
        for row in rows
    )


def _find_reaches(connection: sa.Connection) -> tuple[Reach, ...]:
    rows = connection.execute(
        sa.select(
            accepted_output.c.table_name,
            sa.func.max(accepted_output.c.day).label("last_day"),
            sa.func.count().label("partitions"),
        )
        .where(accepted_output.c.superseded_at.is_(None))
        .group_by(accepted_output.c.table_name)
        .order_by(accepted_output.c.table_name)
    )
    return tuple(
        Reach(table=row.table_name, last_day=row.last_day, partitions=row.partitions)
        for row in rows
    )
