"""What a publication has changed is followed, once its launch is over; a lost cursor doubles
nothing."""

from collections.abc import Callable

import pytest

from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.keys import staging_key, table_key
from backfill_platform.orchestration.sensors.downstream import (
    LOOK_BACK,
    NAME,
    read_place,
)
from backfill_platform.orchestration.sensors.launched import MOST_ATTEMPTS
from backfill_platform_tests.engine.by_hand import run_by_hand
from backfill_platform_tests.orchestration.sensors.ticks import S, World
from backfill_platform_tests.readings import BRONZE, SILVER, START, week

DAYS = week()
CHANGED = DayRange.of_day(START)

Publish = Callable[..., Manifest]


@pytest.fixture
def publish(world: World, intent) -> Publish:
    def publish(table: str, days: DayRange, *rows: str, **said) -> Manifest:
        origin = f"{table} {days} {rows}"
        manifest = plan_run(world.platform, intent(table, days, origin, **said))
        run_by_hand(world.platform, manifest, dict.fromkeys(days, rows))
        return manifest

    return publish


@pytest.fixture
def changed(publish: Publish, clock) -> Manifest:
    """Silver was computed from what bronze held before."""
    publish(BRONZE, DAYS, "a")
    publish(SILVER, DAYS, "1")
    manifest = publish(BRONZE, CHANGED, "b")
    clock.pass_(minutes=1)
    return manifest


def restatements(world: World):
    return [one for one in world.platform.ledger.runs(SILVER) if one.origin.startswith("follow:")]


def test_what_follows_is_planned_and_its_staging_is_asked_for(world, changed):
    (request,) = world.tick(NAME).run_requests
    (planned,) = restatements(world)
    spec = world.platform.catalog.tables[SILVER]
    assert request.tags[tags.RUN] == planned.run_id
    assert request.asset_selection == [staging_key(spec)]
    assert table_key(SILVER) not in request.asset_selection


def test_its_gates_are_judged_with_its_staging(world, changed):
    (request,) = world.tick(NAME).run_requests
    spec = world.platform.catalog.tables[SILVER]
    assert {key.name for key in request.asset_check_keys} == {gate.value for gate in spec.gates}
    assert {key.asset_key for key in request.asset_check_keys} == {staging_key(spec)}


def test_a_lost_cursor_plans_nothing_twice_and_asks_for_the_same(world, changed):
    first = world.tick(NAME)
    again = world.tick(NAME, cursor=None)
    assert again.run_requests == first.run_requests
    assert len(restatements(world)) == 1


def test_the_cursor_leads_past_what_was_followed(world, changed):
    first = world.tick(NAME)
    world.launch(first.run_requests, S.STARTED)
    found = world.tick(NAME, first.cursor)
    assert (found.run_requests, found.skip_message) == (
        [],
        "Nothing has landed since the last look.",
    )


def test_what_has_just_landed_is_left_to_the_next_look(world, publish):
    publish(BRONZE, DAYS, "a")
    publish(SILVER, DAYS, "1")
    publish(BRONZE, CHANGED, "b")
    assert world.tick(NAME).run_requests == []
    assert restatements(world) == []


def test_nothing_is_planned_while_the_launch_that_changed_it_is_under_way(world, changed):
    running = world.record({tags.GROUP: changed.group_id}, [], S.STARTED)
    found = world.tick(NAME)
    assert restatements(world) == []
    world.instance.delete_run(running)
    assert len(world.tick(NAME, found.cursor).run_requests) == 1


def test_a_launch_whose_later_part_has_not_begun_is_waited_for(world, publish, clock):
    publish(BRONZE, DAYS, "a")
    publish(SILVER, DAYS, "1")
    publish(BRONZE, CHANGED, "b", group_id="launch:night")
    clock.pass_(minutes=1)
    world.record({tags.LAUNCH: "night"}, [], S.STARTING)
    assert world.tick(NAME).run_requests == []


def test_what_cannot_be_planned_yet_waits_in_the_cursor(world, publish, intent, clock):
    publish(BRONZE, DAYS, "a")
    publish(SILVER, DAYS, "1")
    former = plan_run(world.platform, intent(SILVER, DAYS, "on its way"))
    changed = publish(BRONZE, CHANGED, "b")
    clock.pass_(minutes=1)
    found = world.tick(NAME)
    assert read_place(found.cursor, clock()).waiting == (changed.run_id,)
    assert f"{SILVER} after {changed.run_id}" in found.skip_message
    run_by_hand(world.platform, former, dict.fromkeys(DAYS, ("3",)))
    clock.pass_(minutes=1)
    assert len(world.tick(NAME, found.cursor).run_requests) == 1


def test_a_restatement_that_waits_for_consent_is_begun_when_it_is_there(world, changed):
    world.tick(NAME)
    (planned,) = restatements(world)
    move = world.platform.ledger.move
    said = {"actor": "t", "cause": "t", "details": {}, "now": world.platform.clock()}
    move(planned.run_id, RunState.PLANNED, RunState.AWAITING_APPROVAL, **said)
    waiting = world.tick(NAME).run_requests
    move(planned.run_id, RunState.AWAITING_APPROVAL, RunState.APPROVED, **said)
    assert (waiting, len(world.tick(NAME).run_requests)) == ([], 1)


def test_a_restatement_that_never_begins_is_left_to_somebody(world, changed):
    failing = (world.launch(world.tick(NAME).run_requests, S.FAILURE) for _ in "123")
    assert [len(launched) for launched in failing] == [1] * MOST_ATTEMPTS
    found = world.tick(NAME)
    assert found.run_requests == []
    assert "could not be begun 3 times" in found.skip_message


def test_a_restatement_that_somebody_stopped_in_dagster_is_not_asked_for_again(world, changed):
    world.launch(world.tick(NAME).run_requests, S.CANCELED)
    assert world.tick(NAME).run_requests == []


@pytest.mark.parametrize("cursor", [None, "", "nonsense", "{}", '{"fact_at": 3}', "[]"])
def test_a_cursor_that_cannot_be_read_is_as_good_as_lost(clock, cursor):
    now = clock()
    assert read_place(cursor, now).position.fact_at == now - LOOK_BACK
