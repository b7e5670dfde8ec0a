"""Evidence records as lines of text, each holding the hash of the one before it. Pure.

Reading is as strict as writing: a line that this module would not have written is broken.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from backfill_platform.domain.canonical import canonical_json
from backfill_platform.domain.hash_chain import GENESIS_HASH, link


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRecord:
    seq: int  # from 1, the number of its line
    key: str  # what it is evidence of; the same key is recorded once
    kind: str
    at: datetime
    body: Mapping[str, Any]
    previous_hash: str
    hash: str


def follow(
    previous: EvidenceRecord | None,
    *,
    key: str,
    kind: str,
    at: datetime,
    body: Mapping[str, Any],
) -> EvidenceRecord:
    """The next record of the chain."""
    if at.tzinfo is None:
        raise ValueError(f"{at} has no time zone; evidence takes aware instants only")
    seq = previous.seq + 1 if previous else 1
    previous_hash = previous.hash if previous else GENESIS_HASH
    record = _hashed(seq=seq, key=key, kind=kind, at=at, body=body)
    return EvidenceRecord(
        seq=seq,
        key=key,
        kind=kind,
        at=at.astimezone(UTC),
        body=body,
        previous_hash=previous_hash,
        hash=link(previous_hash, record),
    )


def write_line(record: EvidenceRecord) -> str:
    """Without the end of the line; it stands for a record that is complete."""
    hashed = _hashed(
        seq=record.seq, key=record.key, kind=record.kind, at=record.at, body=record.body
    )
    return canonical_json({**hashed, "previous_hash": record.previous_hash, "hash": record.hash})


def read_line(line: str) -> EvidenceRecord | None:
    """The record, or nothing when the line is not one."""
    try:
        fields = json.loads(line)
        at = datetime.fromisoformat(fields.pop("at"))
        return EvidenceRecord(at=at, **fields)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def first_broken_line(lines: Iterable[str]) -> int | None:
    """The number, from 1, of the first line that does not follow; nothing when all do.

    Guarded by test_any_tampering_with_a_record_is_found.
    """
    previous: EvidenceRecord | None = None
    for number, line in enumerate(lines, start=1):
        record = read_line(line)
        if record is None or not _follows(previous, record, line):
            return number
        previous = record
    return None


def _follows(previous: EvidenceRecord | None, record: EvidenceRecord, line: str) -> bool:
    try:
        expected = follow(
            previous, key=record.key, kind=record.kind, at=record.at, body=record.body
        )
        return write_line(expected) == line
    except (ValueError, TypeError, AttributeError):
        return False


def _hashed(
    *, seq: int, key: str, kind: str, at: datetime, body: Mapping[str, Any]
) -> dict[str, Any]:
    instant = at.astimezone(UTC).isoformat()
    return {"seq": seq, "key": key, "kind": kind, "at": instant, "body": dict(body)}
