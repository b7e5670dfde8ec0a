"""What lineage has not been told of, kept until it was.

It is written with what it is about, so nothing is missed whoever tells and whenever; and it is
forgotten only after it was told, so a crash in between tells some of it twice. It holds what is
untold, however much was told before.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from backfill_platform.domain.chunks import ChunkRecord
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import ChunkStatus, RunState
from backfill_platform.domain.lineage import TOLD_STATES, ChunkStep, Due
from backfill_platform.ledger.schema import lineage_due


def owe_event(
    connection: sa.Connection,
    run_id: RunId,
    seq: int,
    from_state: RunState | None,
    to_state: RunState,
    at: datetime,
) -> None:
    if to_state in TOLD_STATES and from_state is not to_state:
        connection.execute(lineage_due.insert().values(run_id=run_id, seq=seq, at=at))


def owe_chunk(connection: sa.Connection, chunk: ChunkRecord, at: datetime) -> None:
    connection.execute(
        lineage_due.insert().values(
            run_id=chunk.run_id,
            chunk_id=chunk.chunk_id,
            attempt=chunk.attempt,
            status=chunk.status.value,
            at=at,
        )
    )


def read_due(connection: sa.Connection, limit: int) -> tuple[Due, ...]:
    """The oldest first."""
    rows = connection.execute(sa.select(lineage_due).order_by(lineage_due.c.position).limit(limit))
    return tuple(_read(row) for row in rows)


def forget_due(connection: sa.Connection, positions: Collection[int]) -> None:
    connection.execute(lineage_due.delete().where(lineage_due.c.position.in_(positions)))


def _read(row: sa.Row[Any]) -> Due:
    chunk = None
    if row.chunk_id is not None:
        status = ChunkStatus(row.status)
        chunk = ChunkStep(chunk_id=row.chunk_id, attempt=row.attempt, status=status)
    return Due(position=row.position, run_id=row.run_id, at=row.at, seq=row.seq, chunk=chunk)
