"""Measurements of staged partitions and the verdicts on them; the newest of each is kept.

Older ones are in the evidence. A verdict speaks of staged data: when a chunk is staged again, the
verdicts on what was there before are gone (test_staging_again_forgets_older_verdicts).
"""

from collections.abc import Collection, Iterable, Iterator
from datetime import date, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from backfill_platform.domain.chunks import ChunkCounts, ChunkRecord
from backfill_platform.domain.errors import ChunkRefused
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.ledger_figures import (
    Count,
    Counted,
    count_chunk,
    count_dollars,
    count_write,
)
from backfill_platform.domain.lifecycle import ChunkStatus
from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.plain import from_plain, to_plain
from backfill_platform.domain.verdicts import Gate, JudgedFigure, Outcome, Verdict
from backfill_platform.ledger.chunks import find_chunk, write_chunk
from backfill_platform.ledger.day_sets import conditions_on
from backfill_platform.ledger.exact_figures import OWN_COLUMNS, read_numbers, write_numbers
from backfill_platform.ledger.lineage import owe_chunk
from backfill_platform.ledger.schema import STRAYED, partition_measurement, verdict
from backfill_platform.ledger.tallies import add_counts


def finish_staging(
    connection: sa.Connection,
    run_id: RunId,
    chunk_id: str,
    fencing_token: int,
    counts: ChunkCounts,
    measured: tuple[PartitionMeasurement, ...],
    now: datetime,
) -> ChunkRecord:
    chunk = find_chunk(connection, run_id, chunk_id)
    _refuse_days_outside(chunk, (found.day for found in measured))
    if chunk.fencing_token == fencing_token and (chunk.status, chunk.checksum) == (
        ChunkStatus.STAGED,
        counts.checksum,
    ):
        return chunk
    values = {
        "status": ChunkStatus.STAGED.value,
        "input_count": counts.input_count,
        "output_count": counts.output_count,
        "checksum": counts.checksum,
        "finished_at": now,
    }
    staged = write_chunk(connection, chunk, fencing_token, {ChunkStatus.CLAIMED}, values)
    _write_measurements(connection, staged, measured)
    add_counts(connection, run_id, _staged_counts(staged, counts, measured, now))
    return staged


def record_verdicts(
    connection: sa.Connection,
    run_id: RunId,
    chunk_id: str,
    fencing_token: int | None,
    verdicts: tuple[Verdict, ...],
    now: datetime,
) -> ChunkRecord:
    chunk = find_chunk(connection, run_id, chunk_id)
    _refuse_days_outside(chunk, (given.day for given in verdicts))
    _refuse_unjudged_days(chunk, verdicts)
    token = chunk.fencing_token if fencing_token is None else fencing_token
    if token == chunk.fencing_token and _is_recorded(connection, chunk, verdicts):
        return chunk
    judged = write_chunk(connection, chunk, token, {ChunkStatus.STAGED}, _judgement(verdicts))
    _write_verdicts(connection, judged, verdicts, now)
    owe_chunk(connection, judged, now)
    add_counts(connection, run_id, _judged_counts(judged, verdicts))
    return judged


def read_measurements(
    connection: sa.Connection, run_id: RunId, days: Iterable[date] | None
) -> tuple[PartitionMeasurement, ...]:
    return tuple(map(to_measurement, _read(connection, partition_measurement, run_id, days)))


def to_measurement(row: sa.Row[Any]) -> PartitionMeasurement:
    return PartitionMeasurement(
        day=row.day,
        row_count=row.row_count,
        checksum=row.checksum,
        **read_numbers(row.numbers),
    )


def read_verdicts(
    connection: sa.Connection,
    run_id: RunId,
    days: Iterable[date] | None,
    gates: Collection[Gate] | None = None,
) -> tuple[Verdict, ...]:
    of_gates = () if gates is None else (verdict.c.gate.in_([gate.value for gate in gates]),)
    return tuple(map(_to_verdict, _read(connection, verdict, run_id, days, *of_gates)))


def read_outcomes(
    connection: sa.Connection, run_id: RunId, days: Iterable[date]
) -> dict[tuple[date, Gate], Outcome]:
    """The verdicts without what they rest on, which is most of what there is to read."""
    columns = (verdict.c.day, verdict.c.gate, verdict.c.outcome)
    return {
        (row.day, Gate(row.gate)): Outcome(row.outcome)
        for of_days in conditions_on(verdict.c.day, days)
        for row in connection.execute(
            sa.select(*columns).where(verdict.c.run_id == run_id, of_days)
        )
    }


def read_held_verdicts(connection: sa.Connection, run_id: RunId) -> tuple[Verdict, ...]:
    """Without looking at those that passed, which are nearly all. In no order: where one is asked
    for, SQLite walks along it through every verdict of the run."""
    rows = connection.execute(
        sa.select(verdict).where(
            sa.text(STRAYED),
            verdict.c.run_id == run_id,
            verdict.c.outcome == Outcome.HELD.value,
        )
    )
    return tuple(map(_to_verdict, rows))


def _to_verdict(row: sa.Row[Any]) -> Verdict:
    return Verdict(
        gate=Gate(row.gate),
        day=row.day,
        outcome=Outcome(row.outcome),
        expected=row.expected,
        found=row.found,
        message=row.message,
        figures=from_plain(tuple[JudgedFigure, ...], row.figures or []),
    )


def _write_measurements(
    connection: sa.Connection, chunk: ChunkRecord, measured: tuple[PartitionMeasurement, ...]
) -> None:
    _forget(connection, partition_measurement, chunk.run_id, chunk.days)
    _forget(connection, verdict, chunk.run_id, chunk.days)
    rows = [
        {
            "run_id": chunk.run_id,
            "chunk_id": chunk.chunk_id,
            "attempt": chunk.attempt,
            **_measurement_columns(found),
        }
        for found in measured
    ]
    if rows:
        connection.execute(partition_measurement.insert(), rows)


def _write_verdicts(
    connection: sa.Connection, chunk: ChunkRecord, verdicts: tuple[Verdict, ...], now: datetime
) -> None:
    rows = [
        {
            "run_id": chunk.run_id,
            "day": given.day,
            "gate": given.gate.value,
            "outcome": given.outcome.value,
            "expected": given.expected,
            "found": given.found,
            "message": given.message,
            "figures": to_plain(given.figures),
            "judged_at": now,
        }
        for given in verdicts
    ]
    _forget(connection, verdict, chunk.run_id, chunk.days)
    connection.execute(verdict.insert(), rows)


def _staged_counts(
    chunk: ChunkRecord,
    counts: ChunkCounts,
    measured: tuple[PartitionMeasurement, ...],
    now: datetime,
) -> Iterator[Count]:
    rejected = sum(sum((found.rejected or {}).values()) for found in measured)
    yield Count(counted=Counted.CHUNKS, word=chunk.status)
    yield Count(counted=Counted.INPUT_ROWS, amount=counts.input_count or 0)
    yield Count(counted=Counted.OUTPUT_ROWS, amount=counts.output_count)
    yield Count(counted=Counted.REJECTED_ROWS, amount=rejected)
    yield count_dollars(Counted.COMPUTED_MICRODOLLARS, counts.cost_usd)
    yield from count_chunk(now - chunk.started_at)
    if counts.write_seconds is not None:
        yield from count_write(timedelta(seconds=counts.write_seconds))


def _judged_counts(chunk: ChunkRecord, verdicts: tuple[Verdict, ...]) -> Iterator[Count]:
    yield Count(counted=Counted.CHUNKS, word=chunk.status)
    for given in verdicts:
        if not given.has_passed:
            yield Count(counted=Counted.STRAYED_VERDICTS, word=f"{given.gate} {given.outcome}")


def _is_recorded(
    connection: sa.Connection, chunk: ChunkRecord, verdicts: tuple[Verdict, ...]
) -> bool:
    if chunk.status in {ChunkStatus.CLAIMED, ChunkStatus.STAGED}:
        return False  # verdicts that are still there speak of an earlier attempt
    return set(read_verdicts(connection, chunk.run_id, chunk.days)) == set(verdicts)


def _judgement(verdicts: tuple[Verdict, ...]) -> dict[str, Any]:
    """What is held waits for a review before it is published, and warnings wait for nobody."""
    failed = [given for given in verdicts if given.is_refusal]
    if not failed:
        return {"status": ChunkStatus.VALIDATED.value, "error": None}
    first = failed[0]
    error = f"{len(failed)} verdicts are negative; {first.gate} of {first.day}: {first.message}"
    return {"status": ChunkStatus.FAILED.value, "error": error}


def _refuse_unjudged_days(chunk: ChunkRecord, verdicts: tuple[Verdict, ...]) -> None:
    """Nothing follows from silence: a day without a verdict has not passed."""
    unjudged = sorted(set(chunk.days) - {given.day for given in verdicts})
    if unjudged:
        raise ChunkRefused(
            f"Chunk {chunk.days} of run {chunk.run_id}: no verdict on {_named(unjudged)}. "
            "Judge every day of the chunk."
        )


def _refuse_days_outside(chunk: ChunkRecord, days: Iterable[date]) -> None:
    strange = sorted({day for day in days if day not in chunk.days})
    if strange:
        raise ChunkRefused(
            f"Chunk {chunk.days} of run {chunk.run_id} does not hold {_named(strange)}. "
            "Claim the chunk that does."
        )


def _named(days: Iterable[date]) -> str:
    return str(PartitionSet.of_days(days))


def _measurement_columns(found: PartitionMeasurement) -> dict[str, Any]:
    own = {name: getattr(found, name) for name in OWN_COLUMNS}
    return {**own, "numbers": write_numbers(found)}


def _read(
    connection: sa.Connection,
    table: sa.Table,
    run_id: RunId,
    days: Iterable[date] | None,
    *also: sa.ColumnElement[bool],
) -> Iterator[sa.Row[Any]]:
    chosen = (sa.true(),) if days is None else conditions_on(table.c.day, days)
    for of_days in chosen:
        yield from connection.execute(
            sa.select(table)
            .where(table.c.run_id == run_id, of_days, *also)
            .order_by(*table.primary_key)
        )


def _forget(connection: sa.Connection, table: sa.Table, run_id: RunId, days: DayRange) -> None:
    connection.execute(
        table.delete().where(
            table.c.run_id == run_id,
            table.c.day >= days.start,
            table.c.day < days.end_exclusive,
        )
    )
