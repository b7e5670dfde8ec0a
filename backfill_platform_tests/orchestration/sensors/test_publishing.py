"""What is judged and agreed to is published without anybody's call; nothing else is."""

from dataclasses import replace

import pytest

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.engine.consent.approving import decide, draft_approval
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import load_policy
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.keys import table_key
from backfill_platform.orchestration.sensors.launched import MOST_ATTEMPTS
from backfill_platform.orchestration.sensors.publishing import NAME
from backfill_platform.settings import PROJECT
from backfill_platform_tests.engine.by_hand import stage_by_hand
from backfill_platform_tests.orchestration.sensors.ticks import S, World, make_world
from backfill_platform_tests.readings import BRONZE, week

DAYS = week()


@pytest.fixture
def strict(world: World) -> World:
    """Under the shipped policy: seven days need the data engineering lead before publication."""
    policy = load_policy(PROJECT / "governance.yaml")
    return make_world(replace(world.platform, policy=policy), world.instance)


@pytest.fixture
def judged(intent):
    def judge(world: World, **said) -> RunId:
        manifest = plan_run(world.platform, intent(BRONZE, DAYS, "run", **said))
        stage_by_hand(world.platform, manifest, dict.fromkeys(DAYS, ("a",)))
        return manifest.run_id

    return judge


def test_its_publication_alone_is_asked_for(world, judged):
    run_id = judged(world)
    (request,) = world.tick(NAME).run_requests
    assert request.asset_selection == [table_key(BRONZE)]
    assert request.asset_check_keys == []
    assert request.tags[tags.RUN] == run_id


def test_what_is_asked_for_publishes_the_run(world, judged):
    run_id = judged(world)
    (request,) = world.tick(NAME).run_requests
    assert world.carry_out(request).success
    assert world.platform.ledger.run(run_id).state is RunState.PUBLISHED
    assert world.tick(NAME).skip_message == "Nothing is judged and waits for its publication."


def test_a_dagster_run_names_its_worker_before_anything_else(world, judged):
    judged(world)
    (request,) = world.tick(NAME).run_requests
    run_id = world.carry_out(request).run_id
    said = world.instance.get_run_by_id(run_id).tags[tags.WORKER]
    assert said == f"{world.platform.worker} for {run_id}"


def test_asking_twice_is_asking_for_the_same(world, judged):
    judged(world)
    assert world.tick(NAME).run_requests == world.tick(NAME).run_requests


def test_what_is_under_way_is_not_asked_for_again(world, judged):
    judged(world)
    world.launch(world.tick(NAME).run_requests, S.STARTED)
    assert world.tick(NAME).run_requests == []


def test_what_lacks_a_consent_is_not_asked_for(strict, judged):
    judged(strict)
    found = strict.tick(NAME)
    assert found.run_requests == []
    assert found.skip_message == ("Of 1 judged runs 1 wait for somebody's word, 0 for publication.")


def test_it_is_asked_for_once_everybody_has_agreed(strict, judged):
    run_id = judged(strict)
    lead = draft_approval(strict.platform, run_id, principal="data-engineering-lead")
    decide(strict.platform, lead)
    assert [one.tags[tags.RUN] for one in strict.tick(NAME).run_requests] == [run_id]


def test_what_is_to_be_published_by_hand_is_left_to_somebody(world, judged):
    judged(world, requires_manual_publish=True)
    assert world.tick(NAME).run_requests == []


def test_what_fails_again_and_again_is_left_to_somebody_and_named(world, judged):
    run_id = judged(world)
    failing = (world.launch(world.tick(NAME).run_requests, S.FAILURE) for _ in "123")
    assert [len(launched) for launched in failing] == [1] * MOST_ATTEMPTS
    found = world.tick(NAME)
    assert found.run_requests == []
    assert f"{run_id} could not be published 3 times and is left to somebody" in (
        found.skip_message
    )


def test_each_attempt_has_a_key_of_its_own(world, judged):
    judged(world)
    first = world.tick(NAME).run_requests
    world.launch(first, S.FAILURE)
    assert world.tick(NAME).run_requests[0].run_key != first[0].run_key
