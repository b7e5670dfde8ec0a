"""Runs that go on only when somebody has said something: consent, or a review of what is held.

Whether that has taken too long is decided elsewhere; here are those that wait longest.
"""

import json
from collections.abc import Iterable
from datetime import datetime

import sqlalchemy as sa

from backfill_platform.domain.alert_facts import StandingRun
from backfill_platform.domain.approvals import Decision
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import NEVER_PUBLISHING, is_dark
from backfill_platform.domain.reviews import held_chunks, verdicts_of, without_review
from backfill_platform.domain.verdicts import Outcome
from backfill_platform.ledger.chunks import read_chunks
from backfill_platform.ledger.judgements import read_held_verdicts
from backfill_platform.ledger.reviews import read_reviews
from backfill_platform.ledger.schema import STRAYED, approval, run, verdict
from backfill_platform.ledger.standing import STANDING, standing_runs

_AFTER_JUDGEMENT = (RunState.VALIDATED, RunState.AWAITING_PUBLISH, RunState.PUBLISHING)


def read_awaiting(connection: sa.Connection, limit: int) -> tuple[StandingRun, ...]:
    """Runs that wait for consent; those that wait longest."""
    awaiting = (RunState.AWAITING_APPROVAL.value, RunState.AWAITING_PUBLISH.value)
    oldest = (
        sa.select(*STANDING)
        .where(run.c.state.in_(awaiting))
        .order_by(run.c.updated_at, run.c.run_id)
        .limit(limit)
    )
    return standing_runs(connection, connection.execute(oldest).all())


def read_held(connection: sa.Connection, limit: int) -> tuple[tuple[StandingRun, datetime], ...]:
    """Runs that may be published once what is held of them is reviewed, reviewed or not; and when
    the first of it was judged. Those that wait longest."""
    since = sa.func.min(verdict.c.judged_at).label("since")
    held = (
        sa.select(run.c.run_id, since)
        .join(verdict, verdict.c.run_id == run.c.run_id)
        .where(
            run.c.state.in_([state.value for state in _AFTER_JUDGEMENT]),
            run.c.mode.not_in([mode.value for mode in NEVER_PUBLISHING]),
            sa.text(STRAYED),
            verdict.c.outcome == Outcome.HELD.value,
        )
        .group_by(run.c.run_id)
        .order_by(since, run.c.run_id)
        .limit(limit)
        .subquery()
    )
    rows = connection.execute(
        sa.select(held.c.run_id, held.c.since, run.c.manifest_json).join(
            run, run.c.run_id == held.c.run_id
        )
    )
    judged = {row.run_id: row.since for row in rows if not is_dark(row.manifest_json)}
    named = sa.select(*STANDING).where(run.c.run_id.in_(sorted(judged)))
    found = standing_runs(connection, connection.execute(named).all())
    return tuple((held, judged[held.run_id]) for held in found)


def count_unreviewed(connection: sa.Connection, run_id: RunId) -> int:
    held = held_chunks(read_chunks(connection, run_id), read_held_verdicts(connection, run_id))
    return len(verdicts_of(without_review(held, read_reviews(connection, run_id))))


def read_missing_roles(connection: sa.Connection, run_id: RunId, now: datetime) -> tuple[str, ...]:
    """As far as it is recorded, as `next_step` reckons."""
    asked = connection.execute(
        sa.select(run.c.manifest_json, run.c.manifest_digest).where(run.c.run_id == run_id)
    ).one()
    given = connection.scalars(
        sa.select(approval.c.role).where(
            approval.c.run_id == run_id,
            approval.c.manifest_digest == asked.manifest_digest,
            approval.c.decision == Decision.APPROVED.value,
            approval.c.expires_at > now,
        )
    ).all()
    roles: Iterable[str] = json.loads(asked.manifest_json)["approval"]["roles"]
    return tuple(role for role in roles if role not in given)
