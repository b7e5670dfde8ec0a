"""The append-only, hash-chained history of each run: the truth of which `run` is a projection."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from backfill_platform.domain.hash_chain import GENESIS_HASH, ChainLink, first_broken, link
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.runs import RunEvent, RunRecord
from backfill_platform.ledger.column_types import require_aware
from backfill_platform.ledger.lineage import owe_event
from backfill_platform.ledger.schema import run_event


def append_event(
    connection: sa.Connection,
    run_id: RunId,
    *,
    from_state: RunState | None,
    to_state: RunState,
    actor: str,
    cause: str,
    details: Mapping[str, Any],
    now: datetime,
) -> None:
    """The caller has just written the run's row, so nobody else appends to this run now."""
    last = connection.execute(
        sa.select(run_event.c.seq, run_event.c.hash)
        .where(run_event.c.run_id == run_id)
        .order_by(run_event.c.seq.desc())
        .limit(1)
    ).first()
    previous_hash = last.hash if last else GENESIS_HASH
    record = {
        "run_id": run_id,
        "seq": last.seq + 1 if last else 1,
        "actor": actor,
        "at": now,
        "cause": cause,
        "from_state": from_state,
        "to_state": to_state,
        "details": dict(details),
    }
    connection.execute(
        run_event.insert().values(
            **record, previous_hash=previous_hash, hash=link(previous_hash, _chained(record))
        )
    )
    owe_event(connection, run_id, record["seq"], from_state, to_state, now)


def read_events(connection: sa.Connection, run_id: RunId) -> tuple[RunEvent, ...]:
    rows = connection.execute(
        sa.select(run_event).where(run_event.c.run_id == run_id).order_by(run_event.c.seq)
    )
    return tuple(_read_event(row) for row in rows)


def first_broken_event(record: RunRecord, events: tuple[RunEvent, ...]) -> int | None:
    """The number of the first event that cannot be trusted.

    The chain alone would not miss its last events; that the projection stands where the last event
    leads to, and that the first one names the manifest, closes both ends.
    """
    broken = first_broken_link(events)
    if broken is not None:
        return broken
    if not events or events[0].details.get("manifest_digest") != record.manifest_digest:
        return 1
    return None if events[-1].to_state is record.state else len(events) + 1


def first_broken_link(events: tuple[RunEvent, ...]) -> int | None:
    """The number of the first event that does not follow from the one before it."""
    place = first_broken(
        ChainLink(
            record=_chained(_fields(event)), previous_hash=event.previous_hash, hash=event.hash
        )
        for event in events
    )
    return None if place is None else place + 1


def _read_event(row: sa.Row[Any]) -> RunEvent:
    fields = dict(row._mapping)
    if fields["from_state"] is not None:
        fields["from_state"] = RunState(fields["from_state"])
    return RunEvent(**{**fields, "to_state": RunState(fields["to_state"])})


def _fields(event: RunEvent) -> dict[str, Any]:
    names = ("run_id", "seq", "actor", "at", "cause", "from_state", "to_state", "details")
    return {name: getattr(event, name) for name in names}


def _chained(record: Mapping[str, Any]) -> dict[str, Any]:
    """What the hash covers; the instant as one text, whatever zone it came in."""
    return {**record, "at": require_aware(record["at"]).isoformat()}
