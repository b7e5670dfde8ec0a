"""Finds what was changed in a run, its events or its approvals behind the ledger's back.

Three things hold each other: the chain of events, the manifest with its digest, and the decisions
with their ids. Whoever changes one without the others is found
(test_any_tampering_with_a_run_is_found).
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from backfill_platform.domain.approvals import Approval
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.plain import from_plain
from backfill_platform.domain.runs import RunEvent, RunRecord
from backfill_platform.ledger.approvals import build_approval_id, read_approvals
from backfill_platform.ledger.events import first_broken_link, read_events
from backfill_platform.ledger.runs import find_run

# Of the run's row, and where the manifest says the same.
_SAID_TWICE = {
    "run_id": ("run_id",),
    "group_id": ("group_id",),
    "table": ("target", "table"),
    "kind": ("kind",),
    "mode": ("mode",),
    "transform_version": ("transform", "version"),
    "reason": ("reason",),
    "days": ("target", "partitions"),
    "valid_until": ("valid_until",),
}


def find_problems(connection: sa.Connection, run_id: RunId) -> tuple[str, ...]:
    try:
        record = find_run(connection, run_id)
        events = read_events(connection, run_id)
        approvals = read_approvals(connection, run_id)
    except (KeyError, TypeError, ValueError) as wrong:
        return (f"what is kept about {run_id} holds a word that no ledger writes: {wrong}",)
    return (
        *_problems_of_events(record, events),
        *_problems_of_manifest(record),
        *_problems_of_approvals(record, events, approvals),
    )


def _problems_of_events(record: RunRecord, events: tuple[RunEvent, ...]) -> Iterator[str]:
    broken = first_broken_link(events)
    if broken is not None:
        yield f"event {broken} does not follow from the one before it"
    if not events:
        yield "every event of the run is gone"
        return
    if events[0].details.get("manifest_digest") != record.manifest_digest:
        yield "the first event names another manifest than the run does"
    if events[-1].to_state is not record.state:
        yield f"the run is {record.state}, and its last event led to {events[-1].to_state}"


def _problems_of_manifest(record: RunRecord) -> Iterator[str]:
    digest = hashlib.sha256(record.manifest_json.encode()).hexdigest()
    if digest != record.manifest_digest:
        named = record.manifest_digest
        yield f"the manifest's digest is {digest[:12]}, and the run names {named[:12]}"
    try:
        document = json.loads(record.manifest_json)
        planned = {name: _look_up(document, path) for name, path in _SAID_TWICE.items()}
        differing = [name for name in planned if _differs(record, name, planned[name])]
    except (AttributeError, KeyError, TypeError, ValueError) as wrong:
        yield f"the manifest cannot be read: {type(wrong).__name__}: {wrong}"
        return
    for name in differing:
        yield f"{name} is {getattr(record, name)} in the run, and {planned[name]} in its manifest"


def _problems_of_approvals(
    record: RunRecord, events: tuple[RunEvent, ...], approvals: Mapping[str, Approval]
) -> Iterator[str]:
    named = [event.details["approval_id"] for event in events if "approval_id" in event.details]
    for approval_id, approval in approvals.items():
        of_whom = f"approval {approval_id[:12]} of {approval.principal}"
        if build_approval_id(approval) != approval_id:
            yield f"{of_whom} is not what was decided: its content has another id"
        if approval_id not in named:
            yield f"{of_whom} has no event"
        if approval.manifest_digest != record.manifest_digest:
            yield f"{of_whom} is about another manifest"
    for approval_id in named:
        if approval_id not in approvals:
            yield f"approval {approval_id[:12]} has an event and is gone"


def _look_up(document: Any, path: tuple[str, ...]) -> Any:
    """Nothing where an early version of the platform did not say it."""
    for name in path:
        document = document.get(name)
    return document


def _differs(record: RunRecord, name: str, planned: Any) -> bool:
    return getattr(record, name) != (None if planned is None else _read(name, planned))


def _read(name: str, planned: Any) -> Any:
    match name:
        case "days":  # the first format kept the ranges without a name
            ranges = {"ranges": planned} if isinstance(planned, list) else planned
            return from_plain(PartitionSet, ranges)
        case "valid_until":
            return datetime.fromisoformat(planned)
        case _:
            return planned
