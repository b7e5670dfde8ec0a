"""What died is finished, told and asked for again; what is alive is let alone."""

import socket
import subprocess
import sys

import dagster as dg
import pytest
from dagster._core.events import EngineEventData
from dagster._core.storage.tags import GRPC_INFO_TAG

from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.runs import PublicationIntent
from backfill_platform.engine.carry_out.progress import begin_publishing, begin_staging
from backfill_platform.engine.carry_out.starting import start_run
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.following import find_behind
from backfill_platform.orchestration.sensors import telling
from backfill_platform.orchestration.sensors.dead_runs import end_dead_runs, sign
from backfill_platform.orchestration.sensors.recovering import NAME, read_place
from backfill_platform_tests.engine.by_hand import (
    run_by_hand,
    stage_by_hand,
    stage_chunk_by_hand,
)
from backfill_platform_tests.engine.losing import losing
from backfill_platform_tests.orchestration.sensors.ticks import S, World
from backfill_platform_tests.readings import BRONZE, week

DAYS = week()
FIRST, SECOND = DAYS.split(5)
ROWS = dict.fromkeys(DAYS, ("a",))


@pytest.fixture
def half_staged(world: World, intent, clock) -> Manifest:
    """Of two chunks one is judged; the worker of the other has not been heard of since."""
    manifest = plan_run(world.platform, intent(BRONZE, DAYS, "run"))
    start_run(world.platform, manifest.run_id)
    stage_chunk_by_hand(world.platform, manifest, FIRST, ROWS)
    claim(world, manifest)
    clock.pass_(minutes=3)
    return manifest


def claim(world: World, manifest: Manifest) -> None:
    begin_staging(world.platform, manifest)
    world.platform.ledger.claim_chunk(
        manifest.run_id,
        SECOND,
        worker="elsewhere:1",
        lease_seconds=60,
        max_partitions_at_once=None,
        now=world.platform.clock(),
    )


def state(world: World, manifest: Manifest) -> RunState:
    return world.platform.ledger.run(manifest.run_id).state


def behind(world: World) -> int:
    return len(find_behind(world.instance, world.platform.ledger, BRONZE, DAYS))


def gone_worker() -> str:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return f"{socket.gethostname()}:{process.pid}"


def test_a_run_whose_worker_died_is_asked_for_from_the_chunk_that_it_left(world, half_staged):
    (request,) = world.tick(NAME).run_requests
    assert request.tags[tags.RUN] == half_staged.run_id
    assert request.tags[tags.RANGE_START] == SECOND.start.isoformat()


def test_a_tick_that_died_before_it_could_ask_is_made_up_for(world, half_staged, clock):
    lost = world.tick(NAME)
    clock.pass_(minutes=3)
    assert world.tick(NAME).run_requests == lost.run_requests


def test_what_is_under_way_again_is_not_asked_for(world, half_staged):
    world.launch(world.tick(NAME).run_requests, S.STARTED)
    assert world.tick(NAME).run_requests == []


def test_a_chunk_whose_workers_die_again_and_again_is_left_failed(world, half_staged, clock):
    def die() -> int:
        asked = world.launch(world.tick(NAME).run_requests, S.FAILURE)
        claim(world, half_staged)
        clock.pass_(minutes=3)
        return len(asked)

    assert [die(), die(), die()] == [1, 1, 0]
    assert world.tick(NAME).run_requests == []
    assert state(world, half_staged) is RunState.FAILED


def test_what_somebody_stopped_in_dagster_does_not_go_on(world, half_staged):
    world.stage_of(half_staged.run_id, S.CANCELED)
    assert world.tick(NAME).run_requests == []


def test_a_publication_that_landed_and_was_not_recorded_is(world, intent, clock):
    manifest = plan_run(world.platform, intent(BRONZE, DAYS, "run"))
    stage_by_hand(world.platform, manifest, ROWS)
    with pytest.raises(ConnectionError):
        publish_chunk(losing(world.platform, "record_fact"), manifest.run_id, DAYS)
    clock.pass_(minutes=3)
    assert "landed in version" in world.tick(NAME).skip_message
    assert state(world, manifest) is RunState.PUBLISHED


def test_a_publisher_that_may_be_alive_is_let_alone(world, intent):
    manifest = plan_run(world.platform, intent(BRONZE, DAYS, "run"))
    stage_by_hand(world.platform, manifest, ROWS)
    world.platform.ledger.acquire_fence(
        manifest.run_id,
        BRONZE,
        manifest.target.partitions,
        gives_way=False,
        lease_seconds=60,
        now=world.platform.clock(),
    )
    begin_publishing(world.platform, manifest.run_id)
    intended = PublicationIntent(
        publication_id=f"{manifest.run_id}/{DAYS}",
        run_id=manifest.run_id,
        table=BRONZE,
        days=tuple(DAYS),
        base={},
        files_count=7,
    )
    world.platform.ledger.record_intent(intended, now=world.platform.clock())
    told = world.tick(NAME).skip_message
    assert f"{manifest.run_id} is left alone: somebody may be publishing it" in told
    assert len(world.platform.ledger.open_intents(manifest.run_id)) == 1


def test_what_was_published_outside_dagster_is_told(world, intent, clock):
    manifest = plan_run(world.platform, intent(BRONZE, DAYS, "run"))
    run_by_hand(world.platform, manifest, ROWS)
    before = behind(world)
    clock.pass_(minutes=3)
    cursor = world.tick(NAME).cursor
    assert (before, behind(world)) == (len(DAYS), 0)
    assert world.tick(NAME, cursor).skip_message == "Nothing was left half done."


def test_dagster_is_told_some_days_at_a_time(world, intent, clock, monkeypatch):
    monkeypatch.setattr(telling, "DAYS_AT_ONCE", 4)
    manifest = plan_run(world.platform, intent(BRONZE, DAYS, "run"))
    run_by_hand(world.platform, manifest, ROWS)
    clock.pass_(minutes=3)
    cursor = world.tick(NAME).cursor
    halfway = behind(world)
    world.tick(NAME, cursor)
    assert (halfway, behind(world)) == (3, 0)


def test_what_dagster_was_told_by_its_own_run_is_not_looked_up(world, intent, clock, monkeypatch):
    manifest = plan_run(world.platform, intent(BRONZE, DAYS, "run"))
    run_by_hand(world.platform, manifest, ROWS)
    world.stage_of(manifest.run_id, S.SUCCESS)
    clock.pass_(minutes=3)
    monkeypatch.setattr(telling, "follow", lambda *_: pytest.fail("it was looked up"))
    assert read_place(world.tick(NAME).cursor).untold == ()


def test_a_check_that_dagster_cannot_be_told_again_holds_nothing_up(world, intent, clock):
    once, again = (plan_and_run(world, intent, clock, name) for name in "ab")
    assert (once.skip_message, again.skip_message) == ("Nothing was left half done.",) * 2
    assert behind(world) == 0


def plan_and_run(world, intent, clock, name: str):
    manifest = plan_run(world.platform, intent(BRONZE, DAYS, name))
    run_by_hand(world.platform, manifest, dict.fromkeys(DAYS, (name,)))
    clock.pass_(minutes=3)
    return world.tick(NAME)


def test_only_tables_whose_runs_moved_are_told(world, intent, clock, monkeypatch):
    manifest = plan_run(world.platform, intent(BRONZE, DAYS, "run"))
    run_by_hand(world.platform, manifest, ROWS)
    clock.pass_(minutes=3)
    cursor = world.tick(NAME).cursor
    asked = []
    monkeypatch.setattr(
        world.instance, "get_latest_storage_id_by_partition", lambda *a: asked.append(a)
    )
    world.tick(NAME, cursor)
    assert asked == []


def started(world: World, worker: str, **said: str) -> str:
    run_id = world.record(said, [], S.STARTED)
    sign(world.instance, run_id, worker)
    return run_id


def note_process(world: World, run_id: str, pid: str) -> None:
    """As Dagster does before the first step."""
    noted = dg.DagsterEvent(
        event_type_value=dg.DagsterEventType.ENGINE_EVENT.value,
        job_name="__ASSET_JOB",
        event_specific_data=EngineEventData.in_process(int(pid)),
    )
    world.instance.report_dagster_event(noted, run_id)


def test_a_dagster_run_whose_process_is_gone_is_ended(world):
    dead = started(world, gone_worker())
    assert f"Dagster run {dead} has no process any more." in world.tick(NAME).skip_message
    assert world.instance.get_run_by_id(dead).status is dg.DagsterRunStatus.FAILURE


def test_one_that_died_before_its_first_step_is_ended_too(world):
    dead = world.record({GRPC_INFO_TAG: '{"socket": "/tmp/s"}'}, [], S.STARTED)
    note_process(world, dead, gone_worker().partition(":")[2])
    assert end_dead_runs(world.instance) == (dead,)


def test_the_process_of_another_machine_says_nothing(world):
    elsewhere = world.record({GRPC_INFO_TAG: '{"host": "h", "port": 1}'}, [], S.STARTED)
    note_process(world, elsewhere, gone_worker().partition(":")[2])
    assert end_dead_runs(world.instance) == ()


def test_what_is_executed_again_is_not_taken_for_what_died(world):
    dead = started(world, gone_worker())
    inherited = world.instance.get_run_by_id(dead).tags[tags.WORKER]
    world.record({tags.WORKER: inherited}, [], S.STARTED)
    assert end_dead_runs(world.instance) == (dead,)


@pytest.mark.parametrize("worker", ["", f"{socket.gethostname()}:1", "elsewhere:1"])
def test_a_dagster_run_that_may_be_alive_is_let_alone(world, worker):
    started(world, worker)
    assert end_dead_runs(world.instance) == ()
