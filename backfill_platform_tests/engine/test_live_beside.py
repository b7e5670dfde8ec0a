"""Live runs beside a backfill of the same days: the policy of the table decides who gives way.

On real Delta logs and without Spark, with `bronze.readings` under each of the policies.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from backfill_platform.domain.errors import (
    PartitionsFenced,
    PartitionsHeld,
    PlanRefused,
    TargetMoved,
)
from backfill_platform.domain.findings import Check, Severity
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import ExecutionMode, LiveConflicts, RunKind
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.fencing import fenced
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform_tests.engine.by_hand import run_by_hand, stage_by_hand
from backfill_platform_tests.readings import BRONZE, week

DAYS = week(days=2)
LIVE = {"kind": RunKind.LIVE, "mode": ExecutionMode.LIVE}
BESIDE = [LiveConflicts.MERGE_BY_VERSION, LiveConflicts.VERSIONED]

PlanUnder = Callable[..., Manifest]


@pytest.fixture
def plan(platform: Platform, intent: Callable[..., Any]) -> PlanUnder:
    def make(origin: str, policy: LiveConflicts, **changes: Any) -> Manifest:
        spec = replace(platform.catalog.tables[BRONZE], live_conflicts=policy)
        tables = {**platform.catalog.tables, BRONZE: spec}
        declared = replace(platform, catalog=replace(platform.catalog, tables=tables))
        return plan_run(declared, intent(BRONZE, DAYS, origin, **changes))

    return make


def stage(platform: Platform, manifest: Manifest, meter: str) -> Manifest:
    stage_by_hand(platform, manifest, dict.fromkeys(DAYS, (meter,)))
    return manifest


def test_a_frozen_live_run_is_not_planned_where_a_backfill_is_under_way(plan: PlanUnder) -> None:
    backfill = plan("backfill", LiveConflicts.FREEZE)
    with pytest.raises(PlanRefused, match=f"run {backfill.run_id} of tests is PLANNED"):
        plan("live", LiveConflicts.FREEZE, **LIVE)


@pytest.mark.parametrize("policy", BESIDE)
def test_beside_a_backfill_a_live_run_is_planned_with_a_warning(
    plan: PlanUnder, policy: LiveConflicts
) -> None:
    backfill = plan("backfill", policy)
    live = plan("live", policy, **LIVE)
    (found,) = [one for one in live.findings if one.check is Check.NO_RUN_IN_FLIGHT]
    assert found.severity is Severity.WARN
    assert backfill.run_id in found.message
    assert "whoever is second has to be planned again" in found.message


@pytest.mark.parametrize("policy", BESIDE)
def test_a_live_run_publishes_while_a_backfill_holds_a_fence(
    platform: Platform, plan: PlanUnder, policy: LiveConflicts
) -> None:
    backfill = plan("backfill", policy)
    live = stage(platform, plan("live", policy, **LIVE), "live")
    with fenced(platform, backfill, backfill.target.partitions):
        done = publish_chunk(platform, live.run_id, DAYS)
    assert done.changed == tuple(DAYS)


@pytest.mark.parametrize("policy", BESIDE)
def test_the_fence_of_a_backfill_outlives_that_of_a_live_run(
    platform: Platform, plan: PlanUnder, policy: LiveConflicts
) -> None:
    backfill, live = plan("backfill", policy), plan("live", policy, **LIVE)
    with fenced(platform, backfill, backfill.target.partitions) as guard:
        with fenced(platform, live, live.target.partitions):
            guard()
        assert guard.has_let_commit


def test_between_two_that_are_not_live_the_newer_token_counts(
    platform: Platform, plan: PlanUnder
) -> None:
    policy = LiveConflicts.MERGE_BY_VERSION
    older = plan("older", policy)
    newer = plan("newer", policy, mode=ExecutionMode.DRY_RUN)
    with (
        fenced(platform, older, older.target.partitions) as guard,
        fenced(platform, newer, newer.target.partitions),
        pytest.raises(PartitionsFenced, match=f"{newer.run_id} has taken token 2 since"),
    ):
        guard()


@pytest.mark.parametrize("policy", BESIDE)
@pytest.mark.parametrize("order", [("live", "backfill"), ("backfill", "live")])
def test_whoever_is_second_finds_the_base_moved_and_nothing_changed(
    platform: Platform, plan: PlanUnder, policy: LiveConflicts, order: tuple[str, str]
) -> None:
    runs = {
        "backfill": stage(platform, plan("backfill", policy), "backfill"),
        "live": stage(platform, plan("live", policy, **LIVE), "live"),
    }
    first, second = (runs[name] for name in order)
    publish_chunk(platform, first.run_id, DAYS)
    with pytest.raises(TargetMoved, match=f"--replaces {second.run_id}"):
        publish_chunk(platform, second.run_id, DAYS)
    assert {one.run_id for one in platform.ledger.accepted(BRONZE, DAYS).values()} == {first.run_id}


def test_whoever_was_second_is_planned_again_on_what_it_now_sees(
    platform: Platform, plan: PlanUnder
) -> None:
    policy = LiveConflicts.MERGE_BY_VERSION
    backfill = stage(platform, plan("backfill", policy), "backfill")
    run_by_hand(platform, plan("live", policy, **LIVE), dict.fromkeys(DAYS, ("live",)))
    again = plan("again", policy, replaces=backfill.run_id)
    done = run_by_hand(platform, again, dict.fromkeys(DAYS, ("live", "backfill")))
    assert done.changed == tuple(DAYS)
    assert platform.ledger.run(backfill.run_id).state is RunState.CANCELLED


def test_two_live_runs_are_not_planned_on_the_same_days(plan: PlanUnder) -> None:
    plan("one", LiveConflicts.MERGE_BY_VERSION, **LIVE)
    with pytest.raises(PlanRefused, match=r"may publish 2025-01-01\.\.2025-01-02"):
        plan("other", LiveConflicts.MERGE_BY_VERSION, **LIVE)


def test_both_must_have_been_planned_under_such_a_policy(plan: PlanUnder) -> None:
    backfill = plan("backfill", LiveConflicts.FREEZE)
    with pytest.raises(PartitionsHeld, match=rf"2025-01-01\.\.2025-01-02 by {backfill.run_id}"):
        plan("live", LiveConflicts.MERGE_BY_VERSION, **LIVE)
