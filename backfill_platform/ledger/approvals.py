"""Keeps what principals decided about a run's manifest, each with its event.

Whether a decision counts (role, key, requester, term) is governance's question. Here it is only
refused where it cannot mean anything: for another manifest, or for a run that is past it.
"""

import hashlib
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from backfill_platform.domain.approvals import Approval, Decision
from backfill_platform.domain.canonical import canonical_json
from backfill_platform.domain.errors import ApprovalRefused
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import OPEN_TO_DECISIONS, RunState
from backfill_platform.domain.plain import to_plain
from backfill_platform.domain.runs import AlreadyRecorded, Recorded, RunRecord
from backfill_platform.ledger.runs import find_run, lock_run, move_run, note_on_run
from backfill_platform.ledger.schema import approval as approval_table

_COLUMNS = [column for column in approval_table.columns if column.name != "approval_id"]


def build_approval_id(approval: Approval) -> str:
    """Covers every field, the signature too: whatever is changed, the id no longer fits."""
    return hashlib.sha256(canonical_json(to_plain(approval)).encode()).hexdigest()


def record_approval(
    connection: sa.Connection, approval: Approval, now: datetime
) -> Recorded | AlreadyRecorded:
    _require_utc(approval)
    record = lock_run(connection, approval.run_id)
    _refuse_stale_digest(record, approval)
    known = _find_standing(connection, approval, now)
    if known is not None:
        return AlreadyRecorded(approval_id=build_approval_id(known), approval=known, run=record)
    _refuse_late_decision(record, approval)
    approval_id = build_approval_id(approval)
    fields = {column.name: getattr(approval, column.name) for column in _COLUMNS}
    connection.execute(approval_table.insert().values(approval_id=approval_id, **fields))
    _write_event(connection, record, approval, approval_id, now)
    run = find_run(connection, approval.run_id)
    return Recorded(approval_id=approval_id, approval=approval, run=run)


def read_approvals(connection: sa.Connection, run_id: RunId) -> dict[str, Approval]:
    """By the id under which each is kept, the oldest decision first."""
    rows = connection.execute(
        sa.select(approval_table)
        .where(approval_table.c.run_id == run_id)
        .order_by(approval_table.c.decided_at, approval_table.c.approval_id)
    )
    return {row.approval_id: _read_approval(row) for row in rows}


def _write_event(
    connection: sa.Connection,
    record: RunRecord,
    approval: Approval,
    approval_id: str,
    now: datetime,
) -> None:
    said = f"{approval.decision.lower()} by {approval.principal} as {approval.role}"
    event = {
        "actor": approval.principal,
        "details": {
            "approval_id": approval_id,
            "decision": approval.decision.value,
            "principal": approval.principal,
            "role": approval.role,
        },
        "now": now,
    }
    if approval.decision is Decision.APPROVED:
        note_on_run(connection, record, cause=said, **event)
        return
    cause = f"{said}: {approval.reason}"
    move_run(connection, record.run_id, record.state, RunState.REJECTED, cause=cause, **event)


def _find_standing(connection: sa.Connection, approval: Approval, now: datetime) -> Approval | None:
    """One that has expired may be given anew; a rejection has no end."""
    row = connection.execute(
        sa.select(approval_table).where(
            approval_table.c.run_id == approval.run_id,
            approval_table.c.manifest_digest == approval.manifest_digest,
            approval_table.c.principal == approval.principal,
            approval_table.c.decision == approval.decision.value,
            sa.or_(
                approval_table.c.expires_at > now,
                approval_table.c.decision == Decision.REJECTED.value,
                approval_table.c.decided_at == approval.decided_at,
            ),
        )
    ).first()
    return None if row is None else _read_approval(row)


def _refuse_stale_digest(record: RunRecord, approval: Approval) -> None:
    if approval.manifest_digest != record.manifest_digest:
        raise ApprovalRefused(
            f"{approval.principal} decided about manifest {approval.manifest_digest[:12]}, and run "
            f"{record.run_id} is planned by manifest {record.manifest_digest[:12]}. "
            f"Read `backfill show {record.run_id}` and decide about that."
        )


def _refuse_late_decision(record: RunRecord, approval: Approval) -> None:
    if record.state not in OPEN_TO_DECISIONS:
        raise ApprovalRefused(
            f"Run {record.run_id} is {record.state}, so {approval.principal}'s decision "
            f"({approval.decision}) changes nothing any more. `backfill show {record.run_id}` "
            "tells what happened; what is published is undone with `backfill rollback`."
        )


def _require_utc(approval: Approval) -> None:
    """The instants are hashed and signed as text, and come back from the database in UTC."""
    for instant in (approval.decided_at, approval.expires_at):
        if instant.utcoffset() != timedelta(0):
            raise ValueError(f"{instant} is not UTC; an approval is signed with instants of UTC")


def _read_approval(row: sa.Row[Any]) -> Approval:
    fields = {column.name: getattr(row, column.name) for column in _COLUMNS}
    return Approval(**{**fields, "decision": Decision(fields["decision"])})
