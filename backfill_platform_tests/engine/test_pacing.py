"""Limits and leases at work on real chunks, with a clock that only moves when somebody waits."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from backfill_platform.domain.errors import LimitExceeded, PlanRefused, RunStopped
from backfill_platform.domain.lifecycle import ChunkStatus, RunState
from backfill_platform.domain.limits import DailyWindow, Limits
from backfill_platform.engine.carry_out.progress import move_run
from backfill_platform.engine.carry_out.staging import stage_chunk, stage_days
from backfill_platform.engine.carry_out.starting import open_run, start_run
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform_tests.readings import BRONZE, week

DAYS = week()  # two rows a day
FIRST, SECOND = DAYS.split(4)
NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)


@dataclass
class Time:
    now: datetime = NOON
    waits: list[float] = field(default_factory=list[float])

    def read(self) -> datetime:
        return self.now

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def timed(platform, time):
    return replace(platform, clock=time.read, wait=time.wait)


def test_rows_per_minute_measured_over_the_run_stay_below_the_limit(timed, spark, intent):
    limited = intent(BRONZE, DAYS, "slow", limits=Limits(max_rows_per_minute=4))
    manifest = open_run(timed, limited)
    stage_days(timed, lambda: spark, manifest.run_id, DAYS)
    chunks = timed.ledger.chunks(manifest.run_id)
    minutes = (chunks[-1].finished_at - chunks[0].started_at).total_seconds() / 60
    assert [len(chunk.days) for chunk in chunks] == [2, 2, 2, 1]
    assert sum(chunk.input_count for chunk in chunks) == 14
    assert 14 / minutes <= 4


def test_without_limits_nothing_waits(timed, time, spark, intent):
    manifest = open_run(timed, intent(BRONZE, DAYS, "free"))
    stage_days(timed, lambda: spark, manifest.run_id, DAYS)
    assert time.waits == []


def test_chunks_begin_in_the_off_peak_window_only(timed, spark, intent):
    at_night = Limits(off_peak=DailyWindow(start="22:00", end="06:00"))
    manifest = open_run(timed, intent(BRONZE, DAYS, "night", limits=at_night))
    stage_days(timed, lambda: spark, manifest.run_id, FIRST)
    (chunk,) = timed.ledger.chunks(manifest.run_id)
    assert chunk.started_at == NOON.replace(hour=22)


def test_commits_keep_their_hourly_number(timed, time, spark, intent):
    manifest = open_run(timed, intent(BRONZE, DAYS, "rare", limits=Limits(max_commits_per_hour=1)))
    for chunk in (FIRST, SECOND):
        stage_chunk(timed, spark, manifest.run_id, chunk)
        publish_chunk(timed, manifest.run_id, chunk)
    assert time.now >= NOON + timedelta(hours=1)
    assert timed.ledger.run(manifest.run_id).state is RunState.PUBLISHED


def test_a_run_that_is_cancelled_while_it_waits_stops(timed, time, spark, intent):
    manifest = open_run(timed, intent(BRONZE, DAYS, "slow", limits=Limits(pause_seconds=3600)))
    stage_chunk(timed, spark, manifest.run_id, FIRST)

    def cancel(seconds: float) -> None:
        time.wait(seconds)
        move_run(timed, manifest.run_id, RunState.STAGING, RunState.CANCELLED, "not wanted")

    with pytest.raises(RunStopped, match="CANCELLED"):
        stage_chunk(replace(timed, wait=cancel), spark, manifest.run_id, SECOND)
    assert len(timed.ledger.chunks(manifest.run_id)) == 1


def test_more_rows_than_allowed_are_refused_when_it_is_planned(timed, intent):
    with pytest.raises(PlanRefused, match="14"):
        plan_run(timed, intent(BRONZE, DAYS, "much", limits=Limits(max_rows=13)))
    assert timed.ledger.runs() == ()


def test_a_run_that_has_read_more_than_allowed_by_trying_again_stops(timed, spark, intent):
    manifest = open_run(timed, intent(BRONZE, DAYS, "retried", limits=Limits(max_rows=20)))
    for worker in ("one", "two", "three"):
        timed.ledger.claim_chunk(
            manifest.run_id, FIRST, worker=worker, lease_seconds=1, now=timed.clock()
        )
        timed.wait(2)
    with pytest.raises(LimitExceeded, match="has read 24 rows and may read 20"):
        stage_chunk(timed, spark, manifest.run_id, FIRST)


def test_the_chunk_of_a_worker_that_died_is_taken_over_when_its_lease_ends(
    timed, time, spark, intent
):
    manifest = open_run(timed, intent(BRONZE, DAYS, "died"))
    timed.ledger.claim_chunk(
        manifest.run_id, DAYS, worker="dead", lease_seconds=120, now=timed.clock()
    )
    stage_chunk(timed, spark, manifest.run_id, DAYS)
    (chunk,) = timed.ledger.chunks(manifest.run_id)
    assert (chunk.status, chunk.attempt) == (ChunkStatus.VALIDATED, 2)
    assert time.now >= NOON + timedelta(seconds=120)


def test_a_run_that_failed_goes_on_from_the_chunk_that_failed(timed, spark, intent):
    manifest = open_run(timed, intent(BRONZE, DAYS, "retry"))
    stage_chunk(timed, spark, manifest.run_id, FIRST)
    claim = timed.ledger.claim_chunk(
        manifest.run_id, SECOND, worker="w", lease_seconds=60, now=timed.clock()
    )
    timed.ledger.fail_chunk(
        manifest.run_id, claim.chunk_id, claim.fencing_token, error="disk", now=timed.clock()
    )
    move_run(timed, manifest.run_id, RunState.STAGING, RunState.FAILED, "disk")
    start_run(timed, manifest.run_id)
    for chunk in (FIRST, SECOND):
        stage_chunk(timed, spark, manifest.run_id, chunk)
    attempts = [chunk.attempt for chunk in timed.ledger.chunks(manifest.run_id)]
    assert attempts == [1, 2]
    assert timed.ledger.run(manifest.run_id).state is RunState.VALIDATED
