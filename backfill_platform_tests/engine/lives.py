"""Leads a planned run through its life in the ledger alone, as chunks and publications would."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

from backfill_platform.domain.chunks import ChunkCounts, ClaimedChunk
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.runs import AcceptedRows, PublicationIntent
from backfill_platform.domain.verdicts import Gate, Outcome, Verdict
from backfill_platform.ledger.store import Ledger

NOW = datetime(2026, 7, 4, 9, 0, tzinfo=UTC)
ROWS = 2  # a day, as `readings.land` lands them
S = RunState


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def move(ledger: Ledger, manifest: Manifest, *states: RunState) -> None:
    """Along the states, from the first to the last."""
    for state, following in pairwise(states):
        ledger.move(
            manifest.run_id, state, following, actor="ana", cause="tests", details={}, now=NOW
        )


def claim(ledger: Ledger, manifest: Manifest, days: DayRange, now: datetime = NOW) -> ClaimedChunk:
    claimed = ledger.claim_chunk(
        manifest.run_id,
        days,
        worker="w",
        lease_seconds=60,
        max_partitions_at_once=None,
        now=now,
    )
    assert isinstance(claimed, ClaimedChunk)
    return claimed


def stage(
    ledger: Ledger,
    manifest: Manifest,
    days: DayRange,
    *,
    seconds: float = 10,
    failing: Iterable[Gate] = (),
) -> None:
    claimed = claim(ledger, manifest, days)
    ledger.finish_chunk_staging(
        manifest.run_id,
        claimed.chunk_id,
        claimed.fencing_token,
        counts=ChunkCounts(
            input_count=ROWS * len(days), output_count=ROWS * len(days), checksum="c"
        ),
        measurements=[_measured(day) for day in days],
        now=after(seconds),
    )
    verdicts = [_verdict(day, gate, failing) for day in days for gate in Gate]
    ledger.record_verdicts(manifest.run_id, days, verdicts, now=after(seconds))


def stage_whole(ledger: Ledger, manifest: Manifest) -> None:
    """To VALIDATED, in one chunk."""
    move(ledger, manifest, S.PLANNED, S.APPROVED, S.STAGING)
    stage(ledger, manifest, manifest.target.partitions.span)
    move(ledger, manifest, S.STAGING, S.STAGED, S.VALIDATED)


def publish_whole(ledger: Ledger, manifest: Manifest, *, version: int = 1) -> None:
    """From VALIDATED to PUBLISHED; the target itself is not touched."""
    days = manifest.target.partitions.span
    move(ledger, manifest, S.VALIDATED, S.PUBLISHING)
    intent = PublicationIntent(
        publication_id=f"{manifest.run_id}/{days}",
        run_id=manifest.run_id,
        table=manifest.target.table,
        days=tuple(days),
        base={},
        files_count=len(days),
    )
    ledger.record_intent(intent, now=NOW)
    accepted = [AcceptedRows(day=day, row_count=ROWS, checksum="c") for day in days]
    ledger.record_fact(intent.publication_id, version=version, accepted=accepted, now=NOW)
    ledger.mark_chunk_published(manifest.run_id, days, now=NOW)
    move(ledger, manifest, S.PUBLISHING, S.PUBLISHED)


def _measured(day: date) -> PartitionMeasurement:
    return PartitionMeasurement(
        day=day,
        row_count=ROWS,
        checksum="c",
        duplicate_keys=0,
        null_counts={},
        check_failures={},
        measures={},
    )


def _verdict(day: date, gate: Gate, failing: Iterable[Gate]) -> Verdict:
    has_failed = gate in failing
    return Verdict(
        gate=gate,
        day=day,
        outcome=Outcome.FAILED if has_failed else Outcome.PASSED,
        expected="0",
        found="25" if has_failed else "0",
        message="25 rows repeat the key" if has_failed else "",
    )
