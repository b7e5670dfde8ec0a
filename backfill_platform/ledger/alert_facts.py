"""How runs stand, as far as somebody may have to hear of it; always of few of them.

Each query begins with an index over what stands like that now, so that what was before costs
nothing. Who waits for somebody's word stands in `alert_waits`.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from backfill_platform.domain.alert_facts import HalfDone, RepeatedKeys, StandingRun
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import ChunkStatus, RunState
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.verdicts import Gate, Outcome
from backfill_platform.ledger.schema import (
    STRAYED,
    UNSETTLED,
    accepted_output,
    chunk_run,
    publication,
    run,
    verdict,
)
from backfill_platform.ledger.standing import STANDING, standing_runs


def read_standing(
    connection: sa.Connection,
    states: Collection[RunState],
    *,
    since: datetime,
    also: Collection[str],
    limit: int,
) -> tuple[StandingRun, ...]:
    """Those that moved last, and not before then; and those that are named, while they stand like
    that."""
    in_states = run.c.state.in_([state.value for state in states])
    newest = connection.execute(
        sa.select(*STANDING)
        .where(in_states, run.c.updated_at >= since)
        .order_by(run.c.updated_at.desc(), run.c.run_id)
        .limit(limit)
    ).all()
    others = frozenset(also) - {row.run_id for row in newest}
    named = connection.execute(
        sa.select(*STANDING).where(run.c.run_id.in_(sorted(others)), in_states)
    )
    return standing_runs(connection, [*newest, *named])


def read_states(connection: sa.Connection, run_ids: Collection[str]) -> dict[RunId, RunState]:
    rows = connection.execute(
        sa.select(run.c.run_id, run.c.state).where(run.c.run_id.in_(sorted(run_ids)))
    )
    return {RunId(row.run_id): RunState(row.state) for row in rows}


def read_made_good(connection: sa.Connection, failed: Iterable[StandingRun]) -> frozenset[RunId]:
    """Those of which consumers see each day from a publication that came later."""
    return frozenset(run.run_id for run in failed if _is_made_good(connection, run))


def read_repeated_keys(
    connection: sa.Connection, run_ids: Collection[str]
) -> tuple[RepeatedKeys, ...]:
    repeats = (
        sa.text(STRAYED),
        verdict.c.gate == Gate.KEY_UNIQUE.value,
        verdict.c.outcome == Outcome.FAILED.value,
    )
    days = (sa.func.count(), sa.func.min(verdict.c.day), sa.func.max(verdict.c.day))
    found = connection.execute(
        sa.select(verdict.c.run_id, run.c.table_name, *days)
        .join(run, run.c.run_id == verdict.c.run_id)
        .where(*repeats, verdict.c.run_id.in_(sorted(run_ids)))
        .group_by(verdict.c.run_id, run.c.table_name)
        .order_by(verdict.c.run_id)
    ).all()
    return tuple(
        RepeatedKeys(
            run_id=RunId(run_id),
            table=table,
            days=count,
            first=first,
            last=last,
            message=_said_of(connection, run_id, first),
        )
        for run_id, table, count, first, last in found
    )


def read_half_done(connection: sa.Connection, before: datetime, limit: int) -> tuple[HalfDone, ...]:
    return (
        *_open_intents(connection, before, limit),
        *_abandoned_chunks(connection, before, limit),
    )


def _is_made_good(connection: sa.Connection, failed: StandingRun) -> bool:
    """The first day that is seen from before answers it, and there is one nearly always."""
    return failed.days is not None and all(
        _are_published_since(connection, failed.table, days, failed.entered_at)
        for days in failed.days.ranges
    )


def _are_published_since(
    connection: sa.Connection, table: str, days: DayRange, since: datetime
) -> bool:
    seen = (
        accepted_output.c.table_name == table,
        accepted_output.c.superseded_at.is_(None),
        accepted_output.c.day >= days.start,
        accepted_output.c.day < days.end_exclusive,
    )
    before = sa.select(accepted_output.c.day).where(*seen, accepted_output.c.accepted_at <= since)
    if connection.execute(before.limit(1)).first() is not None:
        return False
    return connection.execute(sa.select(sa.func.count()).where(*seen)).scalar_one() == len(days)


def _open_intents(connection: sa.Connection, before: datetime, limit: int) -> Iterable[HalfDone]:
    rows = connection.execute(
        sa.select(publication.c.run_id, publication.c.table_name, publication.c.intent_at)
        .where(sa.text(UNSETTLED), publication.c.intent_at <= before)
        .order_by(publication.c.intent_at)
        .limit(limit)
    )
    for row in rows:
        what = "a publication was begun and its outcome is not recorded"
        yield HalfDone(
            run_id=RunId(row.run_id), table=row.table_name, what=what, since=row.intent_at
        )


def _abandoned_chunks(
    connection: sa.Connection, before: datetime, limit: int
) -> Iterable[HalfDone]:
    ended = sa.func.min(chunk_run.c.lease_expires_at).label("ended")
    rows = connection.execute(
        sa.select(run.c.run_id, run.c.table_name, ended)
        .join(chunk_run, chunk_run.c.run_id == run.c.run_id)
        .where(
            run.c.state == RunState.STAGING.value,
            chunk_run.c.status == ChunkStatus.CLAIMED.value,
            chunk_run.c.lease_expires_at <= before,
        )
        .group_by(run.c.run_id, run.c.table_name)
        .order_by(ended)
        .limit(limit)
    )
    for row in rows:
        what = "a chunk was being computed and its worker is gone"
        yield HalfDone(run_id=RunId(row.run_id), table=row.table_name, what=what, since=row.ended)


def _said_of(connection: sa.Connection, run_id: str, day: Any) -> str:
    return connection.execute(
        sa.select(verdict.c.message).where(
            verdict.c.run_id == run_id,
            verdict.c.day == day,
            verdict.c.gate == Gate.KEY_UNIQUE.value,
        )
    ).scalar_one()
