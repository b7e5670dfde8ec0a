"""A row of corrections as an event for those who follow a topic instead of a table. Pure.

Nothing is decided here about whether and where events are sent.
"""

import json
from collections.abc import Mapping
from typing import Any

from backfill_platform.domain.announcements import Announcement, Event
from backfill_platform.domain.canonical import canonical_json

HEADERS = {
    "x-run-id": "produced_by_run_id",
    "x-processing-mode": "processing_mode",
    "x-transform-version": "transform_version",
    "x-input-snapshot": "input_snapshot",
}


def announce_on(topic: str) -> Announcement:
    return Announcement(topic=topic, told=correction_event, taken_back=withdrawal_event)


def correction_event(row: Mapping[str, Any]) -> Event:
    """Corrections of one row have one key, and so keep their order; the same correction gives the
    same bytes, so whoever sends it twice is found out by its `eventId`."""
    return _event(row, row["event_type"])


def withdrawal_event(row: Mapping[str, Any]) -> Event:
    """Of a correction that a rollback took back: the event that it names holds no longer."""
    return _event(row, f"{row['event_type']}Withdrawn")


def _event(row: Mapping[str, Any], event_type: str) -> Event:
    key = json.loads(row["corrects_key"])
    value = {
        "eventType": event_type,
        "eventId": row["correction_id"],
        "table": row["corrects_table"],
        "key": key,
        "change": row["change"],
        "correctionNumber": row["correction_number"],
        "correctsEventId": row["corrects_correction_id"],
        "correctsRunId": row["corrects_run_id"],
        "oldValues": _read(row["old_values"]),
        "newValues": _read(row["new_values"]),
        "reason": row["reason"],
        "producedByRunId": row["produced_by_run_id"],
    }
    return Event(
        key=canonical_json(key).encode(),
        value=canonical_json(value).encode(),
        headers=tuple((name, str(row[column]).encode()) for name, column in HEADERS.items()),
    )


def _read(values: str | None) -> Any:
    return None if values is None else json.loads(values)
