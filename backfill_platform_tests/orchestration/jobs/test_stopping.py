"""Cancelling from a launchpad."""

from backfill_platform.domain.lifecycle import RunState
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform_tests.readings import BRONZE, week


def test_a_run_is_cancelled_by_whoever_acts_with_the_reason(act, strict, intent):
    run_id = plan_run(strict, intent(BRONZE, week(), "planned")).run_id
    acted = act("cancel_run", run=run_id, acting_as="ana", reason="planned by mistake")
    last = strict.ledger.events(run_id)[-1]
    assert (last.to_state, last.actor, last.cause) == (
        RunState.CANCELLED,
        "ana",
        "planned by mistake",
    )
    assert acted.outcome["state"] == RunState.CANCELLED


def test_cancelling_without_a_reason_is_refused(act, strict, intent):
    run_id = plan_run(strict, intent(BRONZE, week(), "planned")).run_id
    assert "Say why" in act("cancel_run", run=run_id, acting_as="ana", reason=" ").refusal
    assert strict.ledger.run(run_id).state is RunState.PLANNED
