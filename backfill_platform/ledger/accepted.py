"""What consumers see: per table and partition the accepted run, and every run before it.

The target's versions give the order. A fact that is recorded late, after a newer one, goes into the
history and does not displace what is newer.
"""

from collections.abc import Iterable
from datetime import date, datetime
from typing import Any

import sqlalchemy as sa

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.runs import AcceptedPartition, AcceptedRows, PublicationIntent
from backfill_platform.ledger.schema import accepted_output, run


def accept_rows(
    connection: sa.Connection,
    intent: PublicationIntent,
    version: int,
    rows: Iterable[AcceptedRows],
    now: datetime,
) -> None:
    for accepted in rows:
        newer = _next_newer(connection, intent.table, accepted.day, version)
        if newer is None:
            _supersede(connection, intent, accepted.day, now)
        connection.execute(
            accepted_output.insert().values(
                table_name=intent.table,
                day=accepted.day,
                publication_id=intent.publication_id,
                run_id=intent.run_id,
                row_count=accepted.row_count,
                checksum=accepted.checksum,
                target_version=version,
                accepted_at=now,
                superseded_at=now if newer else None,
                superseded_by_run_id=newer,
            )
        )


def read_accepted(
    connection: sa.Connection, table: str, days: Iterable[date]
) -> dict[date, AcceptedPartition]:
    rows = connection.execute(
        sa.select(accepted_output)
        .where(
            accepted_output.c.table_name == table,
            accepted_output.c.day.in_(list(days)),
            accepted_output.c.superseded_at.is_(None),
        )
        .order_by(accepted_output.c.day)
    )
    return {row.day: _read_accepted(row) for row in rows}


def read_history(connection: sa.Connection, table: str, day: date) -> tuple[AcceptedPartition, ...]:
    rows = connection.execute(
        sa.select(accepted_output)
        .where(accepted_output.c.table_name == table, accepted_output.c.day == day)
        .order_by(accepted_output.c.target_version)
    )
    return tuple(_read_accepted(row) for row in rows)


def runs_without_accepted(connection: sa.Connection, table: str) -> tuple[RunId, ...]:
    """Published runs that lost every partition they had; not those that never changed any."""
    current = sa.func.sum(sa.case((accepted_output.c.superseded_at.is_(None), 1), else_=0))
    found = connection.scalars(
        sa.select(accepted_output.c.run_id)
        .join(run, run.c.run_id == accepted_output.c.run_id)
        .where(run.c.table_name == table, run.c.state == RunState.PUBLISHED.value)
        .group_by(accepted_output.c.run_id)
        .having(current == 0)
        .order_by(accepted_output.c.run_id)
    )
    return tuple(RunId(run_id) for run_id in found)


def _next_newer(connection: sa.Connection, table: str, day: date, version: int) -> RunId | None:
    return connection.scalar(
        sa.select(accepted_output.c.run_id)
        .where(
            accepted_output.c.table_name == table,
            accepted_output.c.day == day,
            accepted_output.c.target_version > version,
        )
        .order_by(accepted_output.c.target_version)
        .limit(1)
    )


def _supersede(
    connection: sa.Connection, intent: PublicationIntent, day: date, now: datetime
) -> None:
    connection.execute(
        accepted_output.update()
        .where(
            accepted_output.c.table_name == intent.table,
            accepted_output.c.day == day,
            accepted_output.c.superseded_at.is_(None),
        )
        .values(superseded_at=now, superseded_by_run_id=intent.run_id)
    )


def _read_accepted(row: sa.Row[Any]) -> AcceptedPartition:
    fields = dict(row._mapping)
    return AcceptedPartition(table=fields.pop("table_name"), **fields)
