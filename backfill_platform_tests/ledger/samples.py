"""Values that ledger tests write, with only what a test is about to be named."""

import dataclasses
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any

from backfill_platform.domain.approvals import Approval, Decision
from backfill_platform.domain.canonical import canonical_json
from backfill_platform.domain.chunks import ChunkCounts, ClaimedChunk, ClaimOutcome
from backfill_platform.domain.identity import GroupId, RunId, build_run_id
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import manifest_digest
from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.domain.modes import ExecutionMode, PublishScope, RunKind
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.plain import to_plain
from backfill_platform.domain.runs import AcceptedRows, NewRun, PublicationIntent, RunRecord
from backfill_platform.domain.verdicts import Gate, Outcome, Verdict
from backfill_platform.ledger.store import Ledger

NOW = datetime(2026, 7, 4, 9, 0, tzinfo=UTC)
VALID_UNTIL = datetime(2026, 7, 7, 9, 0, tzinfo=UTC)
TABLE = "silver.case_sla_daily"
VERSION = "3.1.0"
LEASE_SECONDS = 60
ALONG_THE_ROAD = (
    RunState.PLANNED,
    RunState.APPROVED,
    RunState.STAGING,
    RunState.STAGED,
    RunState.VALIDATED,
    RunState.PUBLISHING,
    RunState.PUBLISHED,
)
COUNTS = ChunkCounts(input_count=9, output_count=6, checksum="sum")


def after(seconds: int) -> datetime:
    return NOW + timedelta(seconds=seconds)


def january(first: int, last: int | None = None) -> DayRange:
    return DayRange.closed(date(2025, 1, first), date(2025, 1, last or first))


def new_run(
    origin: str,
    *,
    days: PartitionSet | None = None,
    mode: ExecutionMode = ExecutionMode.BACKFILL,
    table: str = TABLE,
    version: str = VERSION,
    valid_until: datetime = VALID_UNTIL,
    replaces: RunId | None = None,
    publish_scope: PublishScope = PublishScope.PROGRESSIVE,
) -> Callable[[int], NewRun]:
    """Runs of which a test says no days have one day each, so nobody is in anybody's way."""

    def make(number: int) -> NewRun:
        run_id = build_run_id(planned_on=NOW.date(), table=table, version=version, number=number)
        own_day = PartitionSet.of_range(DayRange.of_day(date(2020, 1, 1) + timedelta(days=number)))
        chosen = days or own_day
        manifest = {
            "run_id": run_id,
            "group_id": "group",
            "kind": RunKind.RESTATEMENT,
            "mode": mode,
            "reason": "wrong zone",
            "valid_until": valid_until.isoformat(),
            "transform": {"version": version},
            "target": {
                "table": table,
                "partitions": to_plain(chosen),
                "publish_scope": publish_scope,
            },
        }
        text = canonical_json(manifest)
        return NewRun(
            run_id=run_id,
            group_id=GroupId("group"),
            origin=origin,
            table=table,
            kind=RunKind.RESTATEMENT,
            mode=mode,
            transform_version=version,
            manifest_json=text,
            manifest_digest=manifest_digest(text),
            actor="ana",
            reason="wrong zone",
            days=chosen,
            valid_until=valid_until,
            replaces=replaces,
        )

    return make


def register(
    ledger: Ledger,
    origin: str = "cli:1",
    days: DayRange | PartitionSet | None = None,
    *,
    now: datetime = NOW,
    **said: Any,
) -> RunRecord:
    chosen = PartitionSet.of_range(days) if isinstance(days, DayRange) else days
    return ledger.register_run(
        new_run(origin, days=chosen, **said),
        table=said.get("table", TABLE),
        transform_version=said.get("version", VERSION),
        planned_on=NOW.date(),
        now=now,
    )


def approval(run: RunRecord, principal: str = "bo", **changed: Any) -> Approval:
    said = Approval(
        run_id=run.run_id,
        manifest_digest=run.manifest_digest,
        principal=principal,
        role="data-engineering-lead",
        decision=Decision.APPROVED,
        reason="reviewed",
        decided_at=NOW,
        expires_at=after(3600),
    )
    return dataclasses.replace(said, **changed)


def rejection(run: RunRecord, principal: str = "bo", **changed: Any) -> Approval:
    return approval(run, principal, decision=Decision.REJECTED, reason="too wide", **changed)


def move(ledger: Ledger, run_id: RunId, *states: RunState) -> None:
    """Along the states, from the first to the last."""
    for state, following in pairwise(states):
        ledger.move(run_id, state, following, actor="ana", cause="test", details={}, now=NOW)


def claim(
    ledger: Ledger,
    run_id: RunId,
    days: DayRange,
    worker: str = "w1",
    now: datetime = NOW,
    at_once: int | None = None,
) -> ClaimOutcome:
    return ledger.claim_chunk(
        run_id,
        days,
        worker=worker,
        lease_seconds=LEASE_SECONDS,
        max_partitions_at_once=at_once,
        now=now,
    )


def claimed(
    ledger: Ledger,
    run_id: RunId,
    days: DayRange,
    worker: str = "w1",
    now: datetime = NOW,
    at_once: int | None = None,
) -> ClaimedChunk:
    outcome = claim(ledger, run_id, days, worker, now, at_once)
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
