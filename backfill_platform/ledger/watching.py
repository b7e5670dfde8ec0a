"""What watchers ask again and again: which runs stand where, who is overdue, what landed since.

Each question is answered from an index and has a limit, so that its cost does not grow with the
number of past runs (test_a_look_reads_an_index_and_not_every_run). What follows from an answer is
the engine's business.
"""

from collections.abc import Collection
from datetime import datetime

import sqlalchemy as sa

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import NOT_BEGUN, ChunkStatus, RunState
from backfill_platform.domain.manifests import NEVER_PUBLISHING
from backfill_platform.domain.modes import PublishScope, RunKind
from backfill_platform.domain.runs import (
    LandedPosition,
    PublicationFact,
    PublicationRecord,
    RunRecord,
)
from backfill_platform.ledger.publications import read_publication
from backfill_platform.ledger.runs import read_run
from backfill_platform.ledger.schema import chunk_run, publication, run

_TO_PUBLISH = (RunState.VALIDATED, RunState.AWAITING_PUBLISH)


def read_runs_at(
    connection: sa.Connection,
    states: Collection[RunState],
    *,
    since: datetime | None,
    until: datetime | None,
    launched_as: str,
    limit: int,
) -> tuple[RunRecord, ...]:
    conditions: list[sa.ColumnElement[bool]] = [run.c.state.in_([state.value for state in states])]
    if since is not None:
        conditions.append(run.c.updated_at > since)
    if until is not None:
        conditions.append(run.c.updated_at <= until)
    if launched_as:
        conditions.append(run.c.origin.startswith(launched_as, autoescape=True))
    return _read_runs(connection, conditions, limit)


def read_overdue(connection: sa.Connection, now: datetime, *, limit: int) -> tuple[RunRecord, ...]:
    conditions = [
        run.c.state.in_([state.value for state in NOT_BEGUN]),
        run.c.valid_until <= now,
    ]
    return _read_runs(connection, conditions, limit)


def read_publishable(connection: sa.Connection, *, limit: int) -> tuple[RunRecord, ...]:
    """Judged, and meant to be published: neither looked at only, nor a candidate, nor a rollback,
    which is carried out as a whole."""
    conditions = [
        run.c.state.in_([state.value for state in _TO_PUBLISH]),
        run.c.mode.not_in([mode.value for mode in NEVER_PUBLISHING]),
        run.c.kind != RunKind.ROLLBACK.value,
        ~run.c.manifest_json.contains(f'"publish_scope":"{PublishScope.DARK}"', autoescape=True),
    ]
    return _read_runs(connection, conditions, limit)


def read_abandoned(connection: sa.Connection, now: datetime, *, limit: int) -> tuple[RunId, ...]:
    """With a chunk whose lease has ended, or a publication whose outcome nobody has recorded."""
    leases = (
        sa.select(chunk_run.c.run_id)
        .where(chunk_run.c.status == ChunkStatus.CLAIMED.value, chunk_run.c.lease_expires_at <= now)
        .limit(limit)
    )
    intents = sa.select(publication.c.run_id).where(publication.c.fact_at.is_(None)).limit(limit)
    found = (*connection.scalars(leases), *connection.scalars(intents))
    return tuple(dict.fromkeys(RunId(run_id) for run_id in found))


def read_landed(
    connection: sa.Connection,
    after: LandedPosition,
    *,
    until: datetime,
    limit: int,
) -> tuple[PublicationRecord, ...]:
    position = sa.tuple_(publication.c.fact_at, publication.c.publication_id)
    rows = connection.execute(
        sa.select(publication)
        .where(
            publication.c.outcome == PublicationFact.LANDED.value,
            publication.c.fact_at >= after.fact_at,
            publication.c.fact_at <= until,
            position > sa.tuple_(*_bound(after)),
        )
        .order_by(publication.c.fact_at, publication.c.publication_id)
        .limit(limit)
    )
    return tuple(read_publication(row) for row in rows)


def _bound(after: LandedPosition) -> tuple[sa.BindParameter[datetime], sa.BindParameter[str]]:
    """A tuple does not hand the columns' types on to what it is compared with."""
    return (
        sa.bindparam("after_at", after.fact_at, type_=publication.c.fact_at.type),
        sa.bindparam("after_id", after.publication_id, type_=publication.c.publication_id.type),
    )


def _read_runs(
    connection: sa.Connection, conditions: Collection[sa.ColumnElement[bool]], limit: int
) -> tuple[RunRecord, ...]:
    """Those that moved last come last."""
    rows = connection.execute(
        sa.select(run).where(*conditions).order_by(run.c.updated_at, run.c.run_id).limit(limit)
    )
    return tuple(read_run(row) for row in rows)
