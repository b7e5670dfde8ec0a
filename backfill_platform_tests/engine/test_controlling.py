"""A run is cancelled until it begins to publish, and only a failed one is tried again."""

import pytest

from backfill_platform.domain.errors import IllegalTransition
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.engine.carry_out.controlling import cancel_run, refuse_retrying
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.records import bundle
from backfill_platform_tests.engine.lives import NOW, move, publish_whole, stage_whole
from backfill_platform_tests.readings import BRONZE, week

S = RunState


@pytest.fixture
def manifest(platform, intent):
    return plan_run(platform, intent(BRONZE, week(days=3), "cancel"))


@pytest.fixture
def cancel(platform, manifest):
    def call(reason="planned by mistake"):
        return cancel_run(
            platform.ledger,
            platform.evidence,
            manifest.run_id,
            actor="ana",
            reason=reason,
            now=NOW,
        )

    return call


def test_a_cancelled_run_says_who_and_why(platform, manifest, cancel):
    assert cancel().state is S.CANCELLED
    last = platform.ledger.events(manifest.run_id)[-1]
    assert (last.actor, last.cause) == ("ana", "planned by mistake")


def test_cancelling_stands_in_the_evidence(platform, manifest, cancel):
    cancel()
    record = bundle(platform, manifest.run_id).records()[-1]
    assert (record.kind, record.body["reason"]) == ("cancelled", "planned by mistake")


def test_cancelling_twice_equals_cancelling_once(platform, manifest, cancel):
    cancel()
    before = platform.ledger.events(manifest.run_id)
    cancel()
    assert platform.ledger.events(manifest.run_id) == before


def test_cancelling_needs_a_reason(platform, manifest, cancel):
    with pytest.raises(IllegalTransition, match="Say why"):
        cancel("  ")
    assert platform.ledger.run(manifest.run_id).state is S.PLANNED


def test_a_run_that_is_being_published_is_not_cancelled(platform, manifest, cancel):
    stage_whole(platform.ledger, manifest)
    move(platform.ledger, manifest, S.VALIDATED, S.PUBLISHING)
    with pytest.raises(IllegalTransition, match="being published"):
        cancel()


def test_a_published_run_is_not_cancelled(platform, manifest, cancel):
    stage_whole(platform.ledger, manifest)
    publish_whole(platform.ledger, manifest)
    with pytest.raises(IllegalTransition, match="only what is not yet published"):
        cancel()


def test_a_run_that_has_not_failed_is_not_tried_again(platform, manifest):
    with pytest.raises(IllegalTransition, match="only a FAILED run"):
        refuse_retrying(platform.ledger.run(manifest.run_id))


def test_a_failed_run_may_be_tried_again(platform, manifest):
    move(platform.ledger, manifest, S.PLANNED, S.APPROVED, S.STAGING, S.FAILED)
    refuse_retrying(platform.ledger.run(manifest.run_id))
