"""Whom to look at after something died, and which runs may go on by themselves."""

import os
import socket
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta

import pytest

from backfill_platform.domain.lifecycle import ChunkStatus, RunState
from backfill_platform.engine.carry_out.progress import begin_staging, fail_run
from backfill_platform.engine.carry_out.starting import start_run
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.recover.recovering import recover_each
from backfill_platform.engine.watch.abandoned import (
    MOST_ATTEMPTS,
    QUIET,
    find_unsettled,
    may_go_on,
)
from backfill_platform_tests.engine.by_hand import run_by_hand, stage_chunk_by_hand
from backfill_platform_tests.readings import BRONZE, week

DAYS = week(days=4)
FIRST, SECOND = DAYS.split(2)


@pytest.fixture
def begun(platform, intent):
    """Of two chunks one is judged, and the other has been claimed."""
    manifest = plan_run(platform, intent(BRONZE, DAYS, "run"))
    start_run(platform, manifest.run_id)
    stage_chunk_by_hand(platform, manifest, FIRST, dict.fromkeys(FIRST, ("a",)))
    begin_staging(platform, manifest)
    claim(platform, manifest)
    return manifest


def claim(platform, manifest, worker: str = "elsewhere:1") -> None:
    platform.ledger.claim_chunk(
        manifest.run_id,
        SECOND,
        worker=worker,
        lease_seconds=60,
        max_partitions_at_once=None,
        now=platform.clock(),
    )


def later(platform, **passed: float):
    now = platform.clock() + timedelta(**passed)
    return replace(platform, clock=lambda: now)


def goes_on(platform, manifest) -> bool:
    state = platform.ledger.run(manifest.run_id).state
    return may_go_on(state, platform.ledger.chunks(manifest.run_id))


def die_once(platform, manifest) -> None:
    """A claim whose lease ends, and the recovery after it."""
    begin_staging(platform, manifest)
    claim(platform, manifest)
    recover_each(later(platform, seconds=61), [manifest.run_id])


def gone_worker() -> str:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return f"{socket.gethostname()}:{process.pid}"


def test_who_holds_a_lease_is_not_looked_at(platform, begun) -> None:
    found = find_unsettled(later(platform, seconds=59), None, limit=10)
    assert (found.abandoned, found.moving) == ((), ())


def test_a_run_whose_lease_has_ended_is_looked_at_once(platform, begun) -> None:
    found = find_unsettled(later(platform, minutes=5), None, limit=10)
    assert (found.abandoned, found.moving, found.resting) == ((begun.run_id,), (), ())


def test_a_run_that_has_not_moved_lately_is_looked_at(platform, intent) -> None:
    manifest = plan_run(platform, intent(BRONZE, DAYS, "stuck"))
    start_run(platform, manifest.run_id)
    begin_staging(platform, manifest)
    assert find_unsettled(platform, None, limit=10).moving == ()
    assert find_unsettled(later(platform, minutes=3), None, limit=10).moving == (manifest.run_id,)


def test_a_run_that_came_to_rest_is_looked_at_until_somebody_has(platform, intent) -> None:
    manifest = plan_run(platform, intent(BRONZE, DAYS, "published"))
    run_by_hand(platform, manifest, dict.fromkeys(DAYS, ("a",)))
    first = find_unsettled(later(platform, minutes=3), None, limit=10)
    again = find_unsettled(later(platform, minutes=9), first.looked_until, limit=10)
    assert (first.resting, again.resting) == ((manifest.run_id,), ())


def test_what_comes_to_rest_after_a_look_is_not_overlooked(platform, intent) -> None:
    before = find_unsettled(platform, None, limit=10).looked_until
    manifest = plan_run(platform, intent(BRONZE, DAYS, "published"))
    run_by_hand(platform, manifest, dict.fromkeys(DAYS, ("a",)))
    after = find_unsettled(later(platform, seconds=QUIET.seconds + 1), before, limit=10)
    assert after.resting == (manifest.run_id,)


def test_a_run_whose_worker_died_may_go_on(platform, begun) -> None:
    recover_each(later(platform, seconds=61), [begun.run_id])
    assert platform.ledger.run(begun.run_id).state is RunState.FAILED
    assert goes_on(platform, begun)


def test_a_run_whose_worker_is_known_to_be_gone_may_go_on_at_once(platform, intent) -> None:
    manifest = plan_run(platform, intent(BRONZE, DAYS, "run"))
    start_run(platform, manifest.run_id)
    begin_staging(platform, manifest)
    claim(platform, manifest, gone_worker())
    recover_each(platform, [manifest.run_id])
    assert goes_on(platform, manifest)


def test_a_run_that_somebody_is_at_work_on_is_let_alone(platform, intent) -> None:
    manifest = plan_run(platform, intent(BRONZE, DAYS, "run"))
    start_run(platform, manifest.run_id)
    begin_staging(platform, manifest)
    claim(platform, manifest, f"{socket.gethostname()}:{os.getpid()}")
    recover_each(platform, [manifest.run_id])
    statuses = [chunk.status for chunk in platform.ledger.chunks(manifest.run_id)]
    assert statuses == [ChunkStatus.CLAIMED]
    assert not goes_on(platform, manifest)


def test_what_failed_on_its_own_does_not_go_on_by_itself(platform, begun) -> None:
    second = platform.ledger.chunks(begun.run_id)[-1]
    platform.ledger.fail_chunk(
        begun.run_id,
        second.chunk_id,
        second.fencing_token,
        error="GateFailed: key_unique",
        now=platform.clock(),
    )
    fail_run(platform, begun.run_id, "a chunk failed")
    assert not goes_on(platform, begun)


def test_a_chunk_whose_workers_die_again_and_again_is_left_to_somebody(platform, begun) -> None:
    recover_each(later(platform, seconds=61), [begun.run_id])
    die_again = (die_once(platform, begun) for _ in range(MOST_ATTEMPTS - 1))
    assert [*die_again] == [None] * (MOST_ATTEMPTS - 1)
    assert not goes_on(platform, begun)
