"""Keeps that a run was compared, as an event of it; what that is needed for is the engine's."""

from datetime import datetime

import sqlalchemy as sa

from backfill_platform.domain.comparisons import COMPARED, Comparison
from backfill_platform.domain.lifecycle import OPEN_TO_DECISIONS
from backfill_platform.ledger.runs import lock_run, note_on_run


def record_comparison(connection: sa.Connection, comparison: Comparison, now: datetime) -> bool:
    """Whether it was kept: of a run that is being published, or is past it, nothing follows from
    it, and an event in between would look like the publisher's."""
    record = lock_run(connection, comparison.run_id)
    if record.state not in OPEN_TO_DECISIONS:
        return False
    figures = {
        name: getattr(comparison, name) for name in ("added", "removed", "changed", "unchanged")
    }
    note_on_run(
        connection,
        record,
        actor=comparison.actor,
        cause="compared: " + ", ".join(f"{keys:,} keys {name}" for name, keys in figures.items()),
        details={
            COMPARED: dict(comparison.chunks),
            "summary_digest": comparison.summary_digest,
            **figures,
        },
        now=now,
    )
    return True
