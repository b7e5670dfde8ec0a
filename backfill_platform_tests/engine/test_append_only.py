"""A partition of an append-only table is written once, on real Delta logs and without Spark."""

from collections.abc import Callable
from typing import Any

import pytest
from deltalake import DeltaTable

from backfill_platform.domain.errors import PlanRefused, TargetMoved
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.planner.rollback_facts import RollbackRequest
from backfill_platform_tests.engine.by_hand import run_by_hand, stage_by_hand, write_rows
from backfill_platform_tests.modes import ONCE
from backfill_platform_tests.readings import week

DAYS = week(days=3)
ROWS = dict.fromkeys(DAYS, ("a", "b"))

Plan = Callable[..., Manifest]


@pytest.fixture
def declared() -> str:
    return "backfill_platform_tests.modes:DECLARATIONS"


@pytest.fixture
def plan(platform: Platform, intent: Callable[..., Any]) -> Plan:
    def make(origin: str, days: DayRange = DAYS, **changes: Any) -> Manifest:
        return plan_run(platform, intent(ONCE, days, origin, **changes))

    return make


def held(platform: Platform) -> DeltaTable:
    return DeltaTable(platform.warehouse.table_path(ONCE))


def take_back(platform: Platform, manifest: Manifest) -> None:
    request = RollbackRequest(
        run_id=manifest.run_id, days=None, reason="tests", requested_by="tests"
    )
    roll_back(platform, plan_rollback(platform, request).run_id)


def test_an_append_between_plan_and_publication_is_refused_and_not_joined(
    platform: Platform, plan: Plan
) -> None:
    planned = plan("first")
    stage_by_hand(platform, planned, ROWS)
    path = platform.warehouse.table_path(ONCE)
    write_rows(path, {DAYS.start: ("x",)}, run_id="somebody")
    with pytest.raises(TargetMoved, match="2025-01-01: expected an empty partition"):
        publish_chunk(platform, planned.run_id, DAYS)
    assert held(platform).to_pyarrow_table()["produced_by_run_id"].to_pylist() == ["somebody"]
    assert platform.ledger.accepted(ONCE, DAYS) == {}


def test_what_is_published_is_not_planned_again(platform: Platform, plan: Plan) -> None:
    first = plan("first")
    run_by_hand(platform, first, ROWS)
    with pytest.raises(PlanRefused, match=f'rollback {first.run_id} --days "2025-01-01'):
        plan("again")


def test_the_days_that_a_refusal_leaves_can_be_planned(platform: Platform, plan: Plan) -> None:
    run_by_hand(platform, plan("first"), ROWS)
    with pytest.raises(PlanRefused, match=r'--days "2025-01-04\.\.2025-01-07"`'):
        plan("all", week())
    assert plan("others", DayRange(DAYS.end_exclusive, week().end_exclusive)).target.base == {}


def test_what_was_taken_back_may_be_appended_again(platform: Platform, plan: Plan) -> None:
    first = plan("first")
    run_by_hand(platform, first, ROWS)
    take_back(platform, first)
    assert held(platform).to_pyarrow_table().num_rows == 0
    again = plan("again")
    run_by_hand(platform, again, dict.fromkeys(DAYS, ("c",)))
    assert held(platform).to_pyarrow_table()["meter"].to_pylist() == ["c", "c", "c"]
    assert platform.ledger.run(first.run_id).state is RunState.ROLLED_BACK


def test_an_empty_day_is_accepted_as_empty_and_then_left_as_it_is(
    platform: Platform, plan: Plan
) -> None:
    first = plan("first")
    assert run_by_hand(platform, first, {}).changed == tuple(DAYS)
    version = held(platform).version()
    assert run_by_hand(platform, plan("again"), {}).unchanged == tuple(DAYS)
    assert held(platform).version() == version
    assert {one.run_id for one in platform.ledger.accepted(ONCE, DAYS).values()} == {first.run_id}


def test_a_day_that_was_accepted_as_empty_may_still_be_filled(
    platform: Platform, plan: Plan
) -> None:
    run_by_hand(platform, plan("first"), {})
    assert run_by_hand(platform, plan("again"), ROWS).changed == tuple(DAYS)


def test_a_second_publication_of_what_landed_changes_nothing(
    platform: Platform, plan: Plan
) -> None:
    first = plan("first")
    run_by_hand(platform, first, ROWS)
    assert publish_chunk(platform, first.run_id, DAYS).unchanged == tuple(DAYS)
