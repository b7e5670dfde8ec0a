"""How far publications of a table reach: all that was ever accepted, and what each run changed."""

from collections import defaultdict
from datetime import date

import sqlalchemy as sa

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.runs import AcceptedPartition
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


def read_changed_counts(connection: sa.Connection, table: str) -> dict[RunId, int]:
    """How many partitions each run has changed; one that changed nothing is not among them."""
    rows = connection.execute(
        sa.select(accepted_output.c.run_id, sa.func.count(accepted_output.c.day.distinct()))
        .where(accepted_output.c.table_name == table)
        .group_by(accepted_output.c.run_id)
    )
    return {RunId(run_id): count for run_id, count in rows}
