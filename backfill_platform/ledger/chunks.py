"""Claims of chunks: who may compute which days of a run, for how long, and how it ended.

Invariant: no two chunks that are at work or staged share a day of a run, and only the newest claim
of a chunk may write about it (test_days_that_another_chunk_holds_are_not_given_away).
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from backfill_platform.domain.chunks import (
    ChunkBusy,
    ChunkDone,
    ChunkRecord,
    ClaimedChunk,
    ClaimOutcome,
    build_chunk_id,
)
from backfill_platform.domain.errors import ChunkRefused, LostRace, RunUnknown
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.ledger_figures import Count, Counted
from backfill_platform.domain.lifecycle import TERMINAL_STATES, ChunkStatus
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.runs import PublicationFact
from backfill_platform.ledger.lineage import owe_chunk
from backfill_platform.ledger.runs import lock_run, refuse_stopped
from backfill_platform.ledger.schema import chunk_run, publication
from backfill_platform.ledger.tallies import add_counts

_DONE = frozenset({ChunkStatus.STAGED, ChunkStatus.VALIDATED, ChunkStatus.PUBLISHED})
_MAY_FAIL = frozenset({ChunkStatus.CLAIMED, ChunkStatus.STAGED, ChunkStatus.VALIDATED})


def claim_chunk(
    connection: sa.Connection,
    run_id: RunId,
    days: DayRange,
    *,
    worker: str,
    lease_seconds: int,
    max_partitions_at_once: int | None,
    now: datetime,
) -> ClaimOutcome:
    _lock_open_run(connection, run_id)
    chunks = read_chunks(connection, run_id)
    own = next((chunk for chunk in chunks if chunk.days == days), None)
    if own is not None and own.status in _DONE:
        return ChunkDone(chunk=own)
    busy = _find_holder(chunks, days, worker=worker, now=now) or _find_excess(
        chunks, days, max_partitions_at_once, now
    )
    if busy is not None:
        return busy
    for chunk in chunks:
        if chunk.days != days and chunk.days.overlaps(days):
            _replace(connection, chunk, now)
    if own is not None:
        _owe_end(connection, own, now)
    return _write_claim(
        connection,
        run_id,
        ClaimedChunk(
            chunk_id=build_chunk_id(days),
            days=days,
            attempt=own.attempt + 1 if own else 1,
            fencing_token=1 + max((chunk.fencing_token for chunk in chunks), default=0),
            lease_expires_at=now + timedelta(seconds=lease_seconds),
        ),
        worker=worker,
        now=now,
    )


def renew_lease(
    connection: sa.Connection,
    run_id: RunId,
    chunk_id: str,
    fencing_token: int,
    *,
    lease_seconds: int,
    now: datetime,
) -> ChunkRecord:
    chunk = find_chunk(connection, run_id, chunk_id)
    values = {"lease_expires_at": now + timedelta(seconds=lease_seconds)}
    return write_chunk(connection, chunk, fencing_token, {ChunkStatus.CLAIMED}, values)


def fail_chunk(
    connection: sa.Connection,
    run_id: RunId,
    chunk_id: str,
    fencing_token: int,
    *,
    error: str,
    now: datetime,
) -> ChunkRecord:
    chunk = find_chunk(connection, run_id, chunk_id)
    if chunk.status is ChunkStatus.FAILED and chunk.fencing_token == fencing_token:
        return chunk
    _refuse_while_publishing(connection, chunk)
    values = {"status": ChunkStatus.FAILED.value, "error": error, "finished_at": now}
    failed = write_chunk(connection, chunk, fencing_token, _MAY_FAIL, values)
    owe_chunk(connection, failed, now)
    add_counts(connection, run_id, [Count(counted=Counted.CHUNKS, word=failed.status)])
    return failed


def mark_published(connection: sa.Connection, run_id: RunId, chunk_id: str) -> ChunkRecord:
    chunk = find_chunk(connection, run_id, chunk_id)
    if chunk.status is ChunkStatus.PUBLISHED:
        return chunk
    values = {"status": ChunkStatus.PUBLISHED.value}
    token = chunk.fencing_token
    published = write_chunk(connection, chunk, token, {ChunkStatus.VALIDATED}, values)
    add_counts(connection, run_id, [Count(counted=Counted.CHUNKS, word=published.status)])
    return published


def write_chunk(
    connection: sa.Connection,
    chunk: ChunkRecord,
    fencing_token: int,
    allowed: Collection[ChunkStatus],
    values: dict[str, Any],
) -> ChunkRecord:
    """The guarded update: the database decides whether this claim is still the newest one."""
    written = connection.execute(
        chunk_run.update()
        .where(
            chunk_run.c.run_id == chunk.run_id,
            chunk_run.c.chunk_id == chunk.chunk_id,
            chunk_run.c.fencing_token == fencing_token,
            chunk_run.c.status.in_([status.value for status in allowed]),
        )
        .values(**values)
    )
    if written.rowcount == 0:
        raise LostRace(
            f"Chunk {chunk.days} of run {chunk.run_id} is {chunk.status} under token "
            f"{chunk.fencing_token} of {chunk.worker}; token {fencing_token} may not write this "
            "any more. Claim it again."
        )
    return find_chunk(connection, chunk.run_id, chunk.chunk_id)


def find_chunk(connection: sa.Connection, run_id: RunId, chunk_id: str) -> ChunkRecord:
    row = connection.execute(
        sa.select(chunk_run).where(chunk_run.c.run_id == run_id, chunk_run.c.chunk_id == chunk_id)
    ).first()
    if row is None:
        raise RunUnknown(f"Run {run_id} has no chunk {chunk_id}; claim it first.")
    return _read_chunk(row)


def read_chunks(connection: sa.Connection, run_id: RunId) -> tuple[ChunkRecord, ...]:
    rows = connection.execute(
        sa.select(chunk_run)
        .where(chunk_run.c.run_id == run_id)
        .order_by(chunk_run.c.start_day, chunk_run.c.end_day_exclusive)
    )
    return tuple(_read_chunk(row) for row in rows)


def covered_days(
    connection: sa.Connection, run_id: RunId, statuses: Collection[ChunkStatus]
) -> frozenset[date]:
    chunks = read_chunks(connection, run_id)
    return frozenset(day for chunk in chunks if chunk.status in statuses for day in chunk.days)


def _lock_open_run(connection: sa.Connection, run_id: RunId) -> None:
    """Claims of one run stand in line, or two that overlap could both find the days free."""
    record = lock_run(connection, run_id)
    refuse_stopped(record)
    if record.state in TERMINAL_STATES:
        raise ChunkRefused(f"Run {run_id} is {record.state}, so nothing of it is computed again.")


def _find_holder(
    chunks: Iterable[ChunkRecord], days: DayRange, *, worker: str, now: datetime
) -> ChunkBusy | None:
    """Somebody else who computes one of these days, or has staged it in another cut."""
    for chunk in chunks:
        is_own = chunk.days == days and chunk.worker == worker
        if chunk.days.overlaps(days) and not is_own and _holds_its_days(chunk, now):
            return _busy(chunk)
    return None


def _find_excess(
    chunks: Iterable[ChunkRecord], days: DayRange, max_at_once: int | None, now: datetime
) -> ChunkBusy | None:
    """Whom to wait for, when this many partitions may not be computed at the same time."""
    if max_at_once is None:
        return None
    if len(days) > max_at_once:
        raise ChunkRefused(
            f"{days} are {len(days)} partitions, and this run may compute {max_at_once} at once. "
            "Cut it smaller, or plan the run anew with another limit."
        )
    others = [chunk for chunk in chunks if chunk.days != days and _is_at_work(chunk, now)]
    at_work = sum(len(chunk.days) for chunk in others)
    if at_work + len(days) <= max_at_once:
        return None
    first_to_end = min(others, key=lambda chunk: chunk.lease_expires_at)
    reason = (
        f"{at_work} partitions are being computed, {days} would make it {at_work + len(days)}, "
        f"and the limit is {max_at_once}; wait for {first_to_end.worker} ({first_to_end.days})"
    )
    return ChunkBusy(holder=first_to_end, reason=reason)


def _refuse_while_publishing(connection: sa.Connection, chunk: ChunkRecord) -> None:
    """A failed chunk is staged anew, and what consumers see or may see must not be."""
    rows = connection.execute(
        sa.select(publication.c.publication_id, publication.c.days).where(
            publication.c.run_id == chunk.run_id,
            publication.c.outcome.is_distinct_from(PublicationFact.GIVEN_UP.value),
        )
    )
    for row in rows:
        if any(date.fromisoformat(day) in chunk.days for day in row.days):
            raise LostRace(
                f"Chunk {chunk.days} of run {chunk.run_id} cannot fail: publication "
                f"{row.publication_id} has landed or may have. Recover it first."
            )


def _is_at_work(chunk: ChunkRecord, now: datetime) -> bool:
    return chunk.status is ChunkStatus.CLAIMED and chunk.lease_expires_at > now


def _holds_its_days(chunk: ChunkRecord, now: datetime) -> bool:
    return chunk.status in _DONE or _is_at_work(chunk, now)


def _busy(holder: ChunkRecord) -> ChunkBusy:
    if holder.status is ChunkStatus.CLAIMED:
        until = f"{holder.lease_expires_at:%Y-%m-%d %H:%M:%S} UTC"
        reason = f"{holder.worker} computes {holder.days}, until {until} at the latest; wait for it"
    else:
        reason = f"{holder.days} is {holder.status} as one chunk; ask for exactly these days"
    return ChunkBusy(holder=holder, reason=reason)


def _replace(connection: sa.Connection, chunk: ChunkRecord, now: datetime) -> None:
    """Failed or abandoned: its days now belong to others, and its worker may write no more."""
    write_chunk(
        connection,
        chunk,
        chunk.fencing_token,
        {ChunkStatus.CLAIMED, ChunkStatus.FAILED, ChunkStatus.REPLACED},
        {"status": ChunkStatus.REPLACED.value},
    )
    _owe_end(connection, chunk, now)


def _owe_end(connection: sa.Connection, chunk: ChunkRecord, now: datetime) -> None:
    """Of an attempt that was abandoned; any other has said itself how it ended."""
    if chunk.status is ChunkStatus.CLAIMED:
        owe_chunk(connection, replace(chunk, status=ChunkStatus.REPLACED), now)


def _write_claim(
    connection: sa.Connection,
    run_id: RunId,
    claimed: ClaimedChunk,
    *,
    worker: str,
    now: datetime,
) -> ClaimedChunk:
    key = {"run_id": run_id, "chunk_id": claimed.chunk_id}
    values: dict[str, Any] = {
        "start_day": claimed.days.start,
        "end_day_exclusive": claimed.days.end_exclusive,
        "status": ChunkStatus.CLAIMED.value,
        "attempt": claimed.attempt,
        "worker": worker,
        "fencing_token": claimed.fencing_token,
        "lease_expires_at": claimed.lease_expires_at,
        "input_count": None,
        "output_count": None,
        "checksum": None,
        "started_at": now,
        "finished_at": None,
        "error": None,
    }
    if claimed.attempt == 1:
        connection.execute(chunk_run.insert().values(**key, **values))
    else:
        connection.execute(chunk_run.update().filter_by(**key).values(**values))
    owe_chunk(connection, find_chunk(connection, run_id, claimed.chunk_id), now)
    return claimed


def _read_chunk(row: sa.Row[Any]) -> ChunkRecord:
    fields = dict(row._mapping)
    days = DayRange(fields.pop("start_day"), fields.pop("end_day_exclusive"))
    return ChunkRecord(**{**fields, "days": days, "status": ChunkStatus(fields["status"])})
