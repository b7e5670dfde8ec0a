"""What earlier chunks of a table took, and how often a run commits: what estimates and limits
rest on. Figures only; what follows from them is decided by the planner and the engine.
"""

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from backfill_platform.domain.estimates import PastChunk
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import ChunkStatus
from backfill_platform.domain.manifests import SKIPS
from backfill_platform.domain.runs import PublicationFact
from backfill_platform.ledger.schema import chunk_run, publication, run

_FINISHED = (ChunkStatus.STAGED, ChunkStatus.VALIDATED, ChunkStatus.PUBLISHED)


def read_past_chunks(connection: sa.Connection, table: str, limit: int) -> tuple[PastChunk, ...]:
    """Without those of runs that computed only some of their days: what one of these took says
    nothing of the days that it covers."""
    rows = connection.execute(
        sa.select(chunk_run)
        .join(run, run.c.run_id == chunk_run.c.run_id)
        .where(
            run.c.table_name == table,
            chunk_run.c.status.in_([status.value for status in _FINISHED]),
            ~run.c.manifest_json.contains(SKIPS, autoescape=True),
        )
        .order_by(chunk_run.c.finished_at.desc(), chunk_run.c.run_id, chunk_run.c.chunk_id)
        .limit(limit)
    )
    return tuple(_read_past_chunk(row) for row in rows)


def read_commit_times(
    connection: sa.Connection, run_id: RunId, since: datetime
) -> tuple[datetime, ...]:
    found = connection.scalars(
        sa.select(publication.c.fact_at)
        .where(
            publication.c.run_id == run_id,
            publication.c.outcome == PublicationFact.LANDED.value,
            publication.c.fact_at >= since,
        )
        .order_by(publication.c.fact_at)
    )
    return tuple(found)


def _read_past_chunk(row: sa.Row[Any]) -> PastChunk:
    return PastChunk(
        rows_read=row.input_count,
        rows_out=row.output_count,
        seconds=(row.finished_at - row.started_at).total_seconds(),
        partitions=(row.end_day_exclusive - row.start_day).days,
    )
