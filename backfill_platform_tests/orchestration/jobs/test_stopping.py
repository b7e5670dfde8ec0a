"""Cancelling from a launchpad: the run ends, and the Dagster backfill that carries nothing else."""

import dagster as dg
import pytest
from dagster._core.execution.backfill import BulkActionStatus, PartitionBackfill

from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.orchestration import tags
from backfill_platform_tests.readings import BRONZE, week

FIRST, SECOND = week(days=2), week(week().start.replace(day=5), days=2)


@pytest.fixture
def planned(strict, intent) -> Manifest:
    return plan_run(strict, intent(BRONZE, FIRST, "planned", group_id="dagster-backfill:abc"))


@pytest.fixture
def carried(instance: dg.DagsterInstance, planned: Manifest) -> Manifest:
    """By the Dagster backfill `abc`, which is under way with a chunk."""
    requested = BulkActionStatus.REQUESTED
    instance.add_backfill(PartitionBackfill("abc", requested, False, {}, 0.0))
    run_tags = {tags.BACKFILL_ID: "abc", tags.RUN_ID_PREFIX + BRONZE: planned.run_id}
    instance.add_run(dg.DagsterRun("job", "chunk", tags=run_tags))
    return planned


@pytest.fixture
def backfill_status(instance: dg.DagsterInstance):
    def read() -> BulkActionStatus:
        backfill = instance.get_backfill("abc")
        assert backfill is not None
        return backfill.status

    return read


def test_a_run_is_cancelled_by_whoever_acts_with_the_reason(act, strict, planned):
    acted = act("cancel_run", run=planned.run_id, acting_as="ana", reason="planned by mistake")
    last = strict.ledger.events(planned.run_id)[-1]
    said = (last.to_state, last.actor, last.cause)
    assert said == (RunState.CANCELLED, "ana", "planned by mistake")
    assert acted.outcome["state"] == RunState.CANCELLED


def test_cancelling_without_a_reason_is_refused(act, strict, carried, backfill_status):
    refused = act("cancel_run", run=carried.run_id, acting_as="ana", reason=" ")
    assert "Say why" in refused.refusal
    assert strict.ledger.run(carried.run_id).state is RunState.PLANNED
    assert backfill_status() is BulkActionStatus.REQUESTED


def test_the_dagster_backfill_that_carries_nothing_else_ends_with_the_run(
    act, carried, backfill_status
):
    acted = act("cancel_run", run=carried.run_id, acting_as="ana", reason="mistake")
    assert "With it ends the Dagster backfill abc." in acted.outcome["outcome"]
    assert backfill_status() is BulkActionStatus.CANCELING


def test_a_dagster_backfill_that_carries_another_run_goes_on(
    act, strict, intent, carried, backfill_status
):
    plan_run(strict, intent(BRONZE, SECOND, "other", group_id="dagster-backfill:abc"))
    acted = act("cancel_run", run=carried.run_id, acting_as="ana", reason="mistake")
    assert "backfill abc" not in acted.outcome["outcome"]
    assert backfill_status() is BulkActionStatus.REQUESTED


def test_cancelling_twice_ends_nothing_more(act, carried, instance, backfill_status):
    act("cancel_run", run=carried.run_id, acting_as="ana", reason="mistake")
    again = act("cancel_run", run=carried.run_id, acting_as="ana", reason="mistake")
    assert again.result.success
    assert "With it ends" not in again.outcome["outcome"]
