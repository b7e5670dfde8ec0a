"""Plans that nobody began in time end by themselves."""

from backfill_platform.domain.lifecycle import RunState
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.orchestration.sensors.expiring import NAME
from backfill_platform_tests.readings import BRONZE, week


def test_a_tick_ends_them_and_names_them(world, intent, clock):
    manifest = plan_run(world.platform, intent(BRONZE, week(), "forgotten"))
    before = world.tick(NAME).skip_message
    clock.pass_(hours=73)
    told = world.tick(NAME).skip_message
    assert before == "No plan is overdue."
    assert told.endswith(f"EXPIRED: {manifest.run_id}.")
    assert world.platform.ledger.run(manifest.run_id).state is RunState.EXPIRED
    assert world.tick(NAME).skip_message == "No plan is overdue."
