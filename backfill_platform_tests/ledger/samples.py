"""Values that ledger tests write, with only what a test is about to be named."""

from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

from backfill_platform.domain.chunks import ChunkCounts, ClaimedChunk, ClaimOutcome
from backfill_platform.domain.identity import GroupId, RunId, build_run_id
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.domain.modes import ExecutionMode, RunKind
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.runs import AcceptedRows, NewRun, PublicationIntent, RunRecord
from backfill_platform.domain.verdicts import Gate, Outcome, Verdict
from backfill_platform.ledger.store import Ledger

NOW = datetime(2026, 7, 4, 9, 0, tzinfo=UTC)
TABLE = "silver.case_sla_daily"
VERSION = "3.1.0"
LEASE_SECONDS = 60
COUNTS = ChunkCounts(input_count=9, output_count=6, checksum="sum")


def after(seconds: int) -> datetime:
    return NOW + timedelta(seconds=seconds)


def january(first: int, last: int | None = None) -> DayRange:
    return DayRange.closed(date(2025, 1, first), date(2025, 1, last or first))


def new_run(origin: str) -> Callable[[int], NewRun]:
    def make(number: int) -> NewRun:
        run_id = build_run_id(planned_on=NOW.date(), table=TABLE, version=VERSION, number=number)
        return NewRun(
            run_id=run_id,
            group_id=GroupId("group"),
            origin=origin,
            table=TABLE,
            kind=RunKind.RESTATEMENT,
            mode=ExecutionMode.BACKFILL,
            transform_version=VERSION,
            manifest_json=f'{{"run_id":"{run_id}"}}',
            manifest_digest=f"{number:064d}",
            actor="ana",
            reason="wrong zone",
        )

    return make


def register(ledger: Ledger, origin: str = "cli:1") -> RunRecord:
    return ledger.register_run(
        new_run(origin),
        table=TABLE,
        transform_version=VERSION,
        planned_on=NOW.date(),
        now=NOW,
    )


def move(ledger: Ledger, run_id: RunId, *states: RunState) -> None:
    """Along the states, from the first to the last."""
    for state, following in pairwise(states):
        ledger.move(run_id, state, following, actor="ana", cause="test", details={}, now=NOW)


def claim(
    ledger: Ledger, run_id: RunId, days: DayRange, worker: str = "w1", now: datetime = NOW
) -> ClaimOutcome:
    return ledger.claim_chunk(run_id, days, worker=worker, lease_seconds=LEASE_SECONDS, now=now)


def claimed(
    ledger: Ledger, run_id: RunId, days: DayRange, worker: str = "w1", now: datetime = NOW
) -> ClaimedChunk:
    outcome = claim(ledger, run_id, days, worker, now)
    assert isinstance(outcome, ClaimedChunk)
    return outcome


def measured(days: Iterable[date], checksum: str = "rows") -> tuple[PartitionMeasurement, ...]:
    return tuple(
        PartitionMeasurement(
            day=day,
            row_count=3,
            checksum=checksum,
            duplicate_keys=0,
            null_counts={"case_id": 0},
            check_failures={"age": 0},
            measures={"breached": 2},
        )
        for day in days
    )


def judged(days: Iterable[date], outcome: Outcome = Outcome.PASSED) -> tuple[Verdict, ...]:
    return tuple(
        Verdict(
            gate=Gate.KEY_UNIQUE, day=day, outcome=outcome, expected="0", found="?", message="m"
        )
        for day in days
    )


def stage(ledger: Ledger, run_id: RunId, chunk: ClaimedChunk) -> None:
    ledger.finish_chunk_staging(
        run_id,
        chunk.chunk_id,
        chunk.fencing_token,
        counts=COUNTS,
        measurements=measured(chunk.days),
        now=NOW,
    )


def stage_and_validate(ledger: Ledger, run_id: RunId, days: DayRange) -> None:
    stage(ledger, run_id, claimed(ledger, run_id, days))
    ledger.record_verdicts(run_id, days, judged(days), now=NOW)


def intent(run_id: RunId, days: DayRange, publication_id: str | None = None) -> PublicationIntent:
    return PublicationIntent(
        publication_id=publication_id or f"{run_id}/{days}",
        run_id=run_id,
        table=TABLE,
        days=tuple(days),
        base=dict.fromkeys(days, "base"),
        files_count=len(days),
    )


def accepted_rows(days: Iterable[date], checksum: str = "rows") -> tuple[AcceptedRows, ...]:
    return tuple(AcceptedRows(day=day, row_count=3, checksum=checksum) for day in days)


def publish(
    ledger: Ledger, run_id: RunId, days: DayRange, version: int, now: datetime = NOW
) -> str:
    publication_id = ledger.record_intent(intent(run_id, days), now=now).intent.publication_id
    ledger.record_fact(publication_id, version=version, accepted=accepted_rows(days), now=now)
    return publication_id
