"""What consumers see: per table and partition the accepted run, and every run before it.

The target's versions give the order. A fact that is recorded late, after a newer one, goes into the
history and does not displace what is newer. However many days, it takes a few statements.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import Any

import sqlalchemy as sa

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.runs import AcceptedPartition, AcceptedRows, PublicationIntent
from backfill_platform.ledger.day_sets import conditions_on
from backfill_platform.ledger.schema import accepted_output, run


def accept_rows(
    connection: sa.Connection,
    intent: PublicationIntent,
    version: int,
    rows: Sequence[AcceptedRows],
    now: datetime,
) -> None:
    if not rows:
        return
    days = [accepted.day for accepted in rows]
    newer = _newer_runs(connection, intent.table, days, version)
    _supersede(connection, intent, (day for day in days if day not in newer), now)
    connection.execute(
        accepted_output.insert(),
        [
            {
                "table_name": intent.table,
                "day": accepted.day,
                "publication_id": intent.publication_id,
                "run_id": intent.run_id,
                "row_count": accepted.row_count,
                "checksum": accepted.checksum,
                "target_version": version,
                "accepted_at": now,
                "superseded_at": now if accepted.day in newer else None,
                "superseded_by_run_id": newer.get(accepted.day),
            }
            for accepted in rows
        ],
    )


def read_accepted(
    connection: sa.Connection, table: str, days: Iterable[date]
) -> dict[date, AcceptedPartition]:
    is_current = accepted_output.c.superseded_at.is_(None)
    found = _select(connection, table, days, is_current)
    return {row.day: _read_accepted(row) for row in found}


def read_newest(connection: sa.Connection, table: str) -> AcceptedPartition | None:
    newest = (
        sa.select(accepted_output)
        .where(accepted_output.c.table_name == table, accepted_output.c.superseded_at.is_(None))
        .order_by(accepted_output.c.day.desc())
        .limit(1)
    )
    row = connection.execute(newest).one_or_none()
    return None if row is None else _read_accepted(row)


def read_histories(
    connection: sa.Connection, table: str, days: Iterable[date]
) -> dict[date, tuple[AcceptedPartition, ...]]:
    histories: defaultdict[date, list[AcceptedPartition]] = defaultdict(list)
    for row in _select(connection, table, days):
        histories[row.day].append(_read_accepted(row))
    return {day: tuple(history) for day, history in histories.items()}


def read_replaced_runs(
    connection: sa.Connection, table: str, run_id: RunId | None = None
) -> dict[RunId, RunId]:
    """Published runs that lost every partition they had, and who took the last one from them; not
    those that never changed any."""
    takers: defaultdict[RunId, list[RunId]] = defaultdict(list)
    for row in connection.execute(_takers(table, run_id)):
        takers[row.run_id].append(row.superseded_by_run_id)
    return {
        lost: max(taken_by, key=lambda taker: _taken_in(connection, table, lost, taker))
        for lost, taken_by in takers.items()
    }


def _newer_runs(
    connection: sa.Connection, table: str, days: Iterable[date], version: int
) -> dict[date, RunId]:
    """By day: whose publication followed that version, where there is one already."""
    is_newer = accepted_output.c.target_version > version
    oldest_last = reversed([*_select(connection, table, days, is_newer)])
    return {row.day: row.run_id for row in oldest_last}


def _supersede(
    connection: sa.Connection, intent: PublicationIntent, days: Iterable[date], now: datetime
) -> None:
    for of_days in conditions_on(accepted_output.c.day, days):
        connection.execute(
            accepted_output.update()
            .where(
                accepted_output.c.table_name == intent.table,
                accepted_output.c.superseded_at.is_(None),
                of_days,
            )
            .values(superseded_at=now, superseded_by_run_id=intent.run_id)
        )


def _select(
    connection: sa.Connection, table: str, days: Iterable[date], *also: sa.ColumnElement[bool]
) -> Iterator[sa.Row[Any]]:
    """By day, and of each day the oldest version first."""
    for of_days in conditions_on(accepted_output.c.day, days):
        yield from connection.execute(
            sa.select(accepted_output)
            .where(accepted_output.c.table_name == table, of_days, *also)
            .order_by(accepted_output.c.day, accepted_output.c.target_version)
        )


def _takers(table: str, run_id: RunId | None) -> sa.Executable:
    """Who took partitions from runs that have none any more."""
    chosen = [accepted_output.c.table_name == table]
    if run_id is not None:
        chosen.append(accepted_output.c.run_id == run_id)
    still_owed = sa.select(accepted_output.c.run_id).where(
        *chosen, accepted_output.c.superseded_at.is_(None)
    )
    return (
        sa.select(accepted_output.c.run_id, accepted_output.c.superseded_by_run_id)
        .distinct()
        .join(run, run.c.run_id == accepted_output.c.run_id)
        .where(
            *chosen,
            run.c.state == RunState.PUBLISHED.value,
            run.c.run_id.not_in(still_owed),
        )
    )


def _taken_in(connection: sa.Connection, table: str, run_id: RunId, taken_by: RunId) -> int:
    """The newest version in which it took a partition of the run."""
    of_table = accepted_output.c.table_name == table
    taken = sa.select(accepted_output.c.day).where(
        of_table,
        accepted_output.c.run_id == run_id,
        accepted_output.c.superseded_by_run_id == taken_by,
    )
    return connection.execute(
        sa.select(sa.func.max(accepted_output.c.target_version)).where(
            of_table, accepted_output.c.run_id == taken_by, accepted_output.c.day.in_(taken)
        )
    ).scalar_one()


def _read_accepted(row: sa.Row[Any]) -> AcceptedPartition:
    fields = dict(row._mapping)
    return AcceptedPartition(table=fields.pop("table_name"), **fields)
