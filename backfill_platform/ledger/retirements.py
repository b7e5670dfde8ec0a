"""Retirements: what is about to be removed, before the first file goes, and that it has gone.

Invariant: whoever plans a rollback and whoever retires files of the same table stand in one line,
and each sees what the other has recorded (test_a_rollback_planned_in_between_keeps_its_files). A
mark says how far the looker has seen; with an older one nothing is recorded and nothing goes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from backfill_platform.domain.errors import LostRace, RunUnknown
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.plain import from_plain, to_plain
from backfill_platform.domain.retirements import RetirementIntent, RetirementRecord
from backfill_platform.domain.runs import LostRaceValue
from backfill_platform.ledger.holding import wait_for_table
from backfill_platform.ledger.runs import move_run
from backfill_platform.ledger.schema import publication, retirement, run

Mark = tuple[int, ...]


def read_mark(connection: sa.Connection, table: str) -> Mark:
    """Grows with every run that is planned, publication that is intended, and retirement."""
    counted = (run, publication, retirement)
    return tuple(
        connection.scalar(
            sa.select(sa.func.count()).select_from(one).where(one.c.table_name == table)
        )
        or 0
        for one in counted
    )


@contextmanager
def unmoved(connection: sa.Connection, table: str, mark: Mark) -> Iterator[None]:
    """While this lasts nobody plans a run of the table."""
    wait_for_table(connection, table)
    if read_mark(connection, table) != mark:
        raise LostRace(
            f"A run of {table} was planned, or another retirement begun, meanwhile; nothing was "
            "removed on what was known before. Look again"
        )
    yield


def write_intent(
    connection: sa.Connection, intent: RetirementIntent, mark: Mark, now: datetime
) -> RetirementRecord:
    """The runs whose time is over end in the same transaction, so none of them is taken up while
    its files go."""
    with unmoved(connection, intent.table, mark):
        earlier = read_retirements(connection, intent.table)
        _refuse_unfinished(earlier)
        number = 1 + len(earlier)
        retirement_id = f"{intent.table}/retirement-{number}"
        for run_id in intent.ends:
            _end(connection, intent, retirement_id, run_id, now)
        connection.execute(
            retirement.insert().values(
                retirement_id=retirement_id,
                table_name=intent.table,
                number=number,
                actor=intent.actor,
                policy_digest=intent.policy_digest,
                intended_at=now,
                intent=to_plain(intent),
            )
        )
        return find_retirement(connection, retirement_id)


def write_fact(
    connection: sa.Connection, retirement_id: str, spared: tuple[str, ...], now: datetime
) -> RetirementRecord:
    """Of two that finish it, the first says how it ended."""
    connection.execute(
        retirement.update()
        .where(retirement.c.retirement_id == retirement_id, retirement.c.finished_at.is_(None))
        .values(finished_at=now, spared=list(spared))
    )
    return find_retirement(connection, retirement_id)


def find_retirement(connection: sa.Connection, retirement_id: str) -> RetirementRecord:
    row = connection.execute(
        sa.select(retirement).where(retirement.c.retirement_id == retirement_id)
    ).first()
    if row is None:
        raise RunUnknown(f"The ledger holds no retirement {retirement_id}; record its intent first")
    return _read(row)


def read_retirements(connection: sa.Connection, table: str) -> tuple[RetirementRecord, ...]:
    rows = connection.execute(
        sa.select(retirement).where(retirement.c.table_name == table).order_by(retirement.c.number)
    )
    return tuple(_read(row) for row in rows)


def _refuse_unfinished(earlier: tuple[RetirementRecord, ...]) -> None:
    """Its files would be named twice."""
    unfinished = [one.retirement_id for one in earlier if one.finished_at is None]
    if unfinished:
        raise LostRace(f"{unfinished[0]} is not finished; finish it first, then look again")


def _end(
    connection: sa.Connection,
    intent: RetirementIntent,
    retirement_id: str,
    run_id: RunId,
    now: datetime,
) -> None:
    days = intent.retention.abandoned_after_days
    ended = move_run(
        connection,
        run_id,
        intent.ends[run_id],
        RunState.EXPIRED,
        actor=intent.actor,
        cause=f"nobody took it up within {days} days; {retirement_id} removes what it staged",
        details={"retirement": retirement_id},
        now=now,
    )
    if isinstance(ended, LostRaceValue):
        raise LostRace(
            f"Run {run_id} has just become {ended.run.state}, so nothing was retired. Look again"
        )


def _read(row: sa.Row[Any]) -> RetirementRecord:
    return RetirementRecord(
        retirement_id=row.retirement_id,
        intent=from_plain(RetirementIntent, row.intent),
        intended_at=row.intended_at,
        finished_at=row.finished_at,
        spared=tuple(row.spared or ()),
    )
