"""How gates judged the days of a table over its runs, and what those runs measured. Reads only.

However many days are asked for, it takes a few statements. Of a run the newest judgement is there;
older ones are in its evidence.
"""

from collections.abc import Collection, Iterable, Iterator
from datetime import date, datetime
from operator import attrgetter
from typing import Any

import sqlalchemy as sa

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.judgements import Judgement, MeasuredDay
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.verdicts import Gate, Outcome
from backfill_platform.ledger.day_sets import conditions_on
from backfill_platform.ledger.judgements import to_measurement
from backfill_platform.ledger.schema import partition_measurement, run, verdict


def read_judgements(
    connection: sa.Connection, table: str, days: Iterable[date], gates: Collection[Gate]
) -> tuple[Judgement, ...]:
    """Of all runs of the table, the newest first."""
    columns = verdict.c
    rows = _of_table(
        connection,
        (columns.run_id, columns.day, columns.gate, columns.outcome, columns.judged_at),
        table,
        days,
        columns.gate.in_([gate.value for gate in gates]),
    )
    found = (
        Judgement(
            run_id=row.run_id,
            day=row.day,
            gate=Gate(row.gate),
            outcome=Outcome(row.outcome),
            judged_at=row.judged_at,
        )
        for row in rows
    )
    return tuple(sorted(found, key=lambda one: (one.judged_at, one.run_id), reverse=True))


def read_judging_runs(
    connection: sa.Connection, table: str, days: Iterable[date]
) -> dict[date, RunId]:
    """By day: whose verdicts are the newest."""
    newest: dict[date, tuple[datetime, RunId]] = {}
    columns = (verdict.c.run_id, verdict.c.day, verdict.c.judged_at)
    for row in _of_table(connection, columns, table, days):
        known = newest.get(row.day)
        if known is None or known < (row.judged_at, row.run_id):
            newest[row.day] = (row.judged_at, row.run_id)
    return {day: run_id for day, (_, run_id) in sorted(newest.items())}


def read_measured_days(
    connection: sa.Connection, run_ids: Collection[RunId], days: Iterable[date]
) -> tuple[MeasuredDay, ...]:
    """Whatever of these days each of these runs has measured."""
    columns = partition_measurement.c
    found: list[MeasuredDay] = []
    for of_days in conditions_on(columns.day, days):
        chosen = sa.select(partition_measurement).where(
            columns.run_id.in_(sorted(run_ids)), of_days
        )
        found += (
            MeasuredDay(run_id=row.run_id, measured=to_measurement(row))
            for row in connection.execute(chosen)
        )
    return tuple(found)


def read_measuring_runs(
    connection: sa.Connection, table: str, days: Iterable[date]
) -> dict[RunId, set[date]]:
    """Published runs, in the order of their plans, with the days that they have measured; also
    those that came out as they were."""
    chosen = (
        sa.select(run.c.run_id, run.c.planned_at, partition_measurement.c.day)
        .join(partition_measurement, partition_measurement.c.run_id == run.c.run_id)
        .where(run.c.table_name == table, run.c.state == RunState.PUBLISHED.value)
    )
    rows = [
        row
        for of_days in conditions_on(partition_measurement.c.day, days)
        for row in connection.execute(chosen.where(of_days))
    ]
    found: dict[RunId, set[date]] = {}
    for row in sorted(rows, key=attrgetter("planned_at", "run_id")):
        found.setdefault(row.run_id, set()).add(row.day)
    return found


def _of_table(
    connection: sa.Connection,
    columns: tuple[sa.Column[Any], ...],
    table: str,
    days: Iterable[date],
    *also: sa.ColumnElement[bool],
) -> Iterator[sa.Row[Any]]:
    """A verdict names its run, and the run its table."""
    for of_days in conditions_on(verdict.c.day, days):
        yield from connection.execute(
            sa.select(*columns)
            .distinct()
            .join(run, run.c.run_id == verdict.c.run_id)
            .where(run.c.table_name == table, of_days, *also)
        )
