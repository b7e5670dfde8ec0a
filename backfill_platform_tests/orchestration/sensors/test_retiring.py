"""Files are retired each night, where the policy says for how long they stay."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import dagster as dg

from backfill_platform.domain.retirements import Retention
from backfill_platform.engine.carry_out.controlling import cancel_run
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import load_policy
from backfill_platform.orchestration.sensors.retiring import ACTOR, NAME, NO_POLICY
from backfill_platform.settings import PROJECT
from backfill_platform_tests.engine.by_hand import run_by_hand, stage_by_hand
from backfill_platform_tests.orchestration.sensors.ticks import World, make_world
from backfill_platform_tests.readings import BRONZE, week

SCHEDULE = f"{NAME}_daily"
NIGHT = datetime(2025, 1, 3, 4, 0, tzinfo=UTC)
DAYS = week(days=2)


def under_the_shipped_policy(world: World, clock) -> World:
    policy = load_policy(PROJECT / "governance.yaml")
    assert isinstance(policy.retention, Retention)
    return make_world(replace(world.platform, policy=policy), world.instance)


def abandon(world: World, intent) -> None:
    """What it staged is what may go."""
    manifest = plan_run(world.platform, intent(BRONZE, DAYS, "abandoned"))
    stage_by_hand(world.platform, manifest, dict.fromkeys(DAYS, ("b",)))
    cancel_run(
        world.platform.ledger,
        world.platform.evidence,
        manifest.run_id,
        actor="tests",
        reason="tests",
        now=world.platform.clock(),
    )


def carry_out(world: World) -> dg.ExecuteInProcessResult:
    job = world.repository.get_job(NAME)
    return job.execute_in_process(instance=world.instance, raise_on_error=False)


def test_without_a_policy_nothing_is_ever_retired(world):
    assert world.schedule(SCHEDULE, NIGHT).skip_message == NO_POLICY


def test_each_night_is_one_run(world, clock):
    strict = under_the_shipped_policy(world, clock)
    requests = strict.schedule(SCHEDULE, NIGHT).run_requests
    assert [one.run_key for one in requests or ()] == [f"{NAME}:2025-01-03"]


def test_it_removes_and_records_what_the_policy_lets_go(world, intent, clock):
    manifest = plan_run(world.platform, intent(BRONZE, DAYS, "seen"))
    run_by_hand(world.platform, manifest, dict.fromkeys(DAYS, ("a",)))
    abandon(world, intent)
    strict = under_the_shipped_policy(world, clock)
    clock.pass_(days=timedelta(days=40).days)
    assert carry_out(strict).success
    (record,) = strict.platform.ledger.retirements(BRONZE)
    assert (record.intent.actor, record.finished_at is not None) == (ACTOR, True)


def test_a_second_night_finds_nothing_to_retire(world, intent, clock):
    test_it_removes_and_records_what_the_policy_lets_go(world, intent, clock)
    strict = under_the_shipped_policy(world, clock)
    assert carry_out(strict).success
    assert len(strict.platform.ledger.retirements(BRONZE)) == 1
