"""Plans whose term is over end; what somebody has begun does not."""

from dataclasses import replace
from datetime import timedelta

from backfill_platform.domain.lifecycle import RunState
from backfill_platform.engine.carry_out.starting import start_run
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.watch.expiring import ACTOR, expire_overdue
from backfill_platform_tests.engine.by_hand import stage_chunk_by_hand
from backfill_platform_tests.readings import BRONZE, week

DAYS = week()


def after_its_term(platform, manifest):
    return replace(platform, clock=lambda: manifest.valid_until + timedelta(seconds=1))


def test_a_plan_that_nobody_began_ends_with_the_reason_in_its_history(platform, intent) -> None:
    manifest = plan_run(platform, intent(BRONZE, DAYS, "forgotten"))
    (ended,) = expire_overdue(after_its_term(platform, manifest), limit=10)
    event = platform.ledger.events(ended.run_id)[-1]
    assert platform.ledger.run(manifest.run_id).state is RunState.EXPIRED
    assert (event.actor, event.cause) == (
        ACTOR,
        f"nobody began it before {manifest.valid_until:%Y-%m-%d %H:%M} UTC",
    )


def test_a_plan_within_its_term_stays(platform, intent) -> None:
    plan_run(platform, intent(BRONZE, DAYS, "new"))
    assert expire_overdue(platform, limit=10) == ()


def test_what_has_begun_does_not_expire(platform, intent) -> None:
    manifest = plan_run(platform, intent(BRONZE, DAYS, "begun"))
    start_run(platform, manifest.run_id)
    stage_chunk_by_hand(platform, manifest, DAYS, dict.fromkeys(DAYS, ("a",)))
    assert expire_overdue(after_its_term(platform, manifest), limit=10) == ()


def test_expiring_twice_ends_nothing_twice(platform, intent) -> None:
    later = after_its_term(platform, plan_run(platform, intent(BRONZE, DAYS, "forgotten")))
    expire_overdue(later, limit=10)
    assert expire_overdue(later, limit=10) == ()
