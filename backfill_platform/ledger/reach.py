"""How far publications of a table reach: all that was ever accepted, and what became of it."""

from collections import defaultdict
from datetime import date

import sqlalchemy as sa

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.runs import AcceptedPartition, Fate
from backfill_platform.ledger.schema import accepted_output


def read_table_history(
    connection: sa.Connection, table: str
) -> dict[date, tuple[AcceptedPartition, ...]]:
    """By day, the oldest version of the target first."""
    rows = connection.execute(
        sa.select(accepted_output)
        .where(accepted_output.c.table_name == table)
        .order_by(accepted_output.c.day, accepted_output.c.target_version)
    )
    histories: defaultdict[date, list[AcceptedPartition]] = defaultdict(list)
    for row in rows:
        fields = dict(row._mapping)
        histories[row.day].append(AcceptedPartition(table=fields.pop("table_name"), **fields))
    return {day: tuple(history) for day, history in histories.items()}


def read_fates(
    connection: sa.Connection, table: str, run_id: RunId | None = None
) -> dict[RunId, Fate]:
    """Of every run that changed a partition of the table, or of one. A run that changed nothing is
    not among them."""
    columns = accepted_output.c
    asked = (
        sa.select(
            columns.run_id, columns.superseded_by_run_id, sa.func.count(columns.day.distinct())
        )
        .where(columns.table_name == table)
        .group_by(columns.run_id, columns.superseded_by_run_id)
        .order_by(columns.run_id, columns.superseded_by_run_id)
    )
    chosen = asked if run_id is None else asked.where(columns.run_id == run_id)
    counts: defaultdict[RunId, dict[RunId | None, int]] = defaultdict(dict)
    for of_run, taken_by, count in connection.execute(chosen):
        counts[of_run][taken_by] = count
    return {of_run: _fate(taken) for of_run, taken in counts.items()}


def _fate(taken: dict[RunId | None, int]) -> Fate:
    return Fate(
        seen_now=taken.get(None, 0),
        taken_by={taker: count for taker, count in taken.items() if taker is not None},
    )
