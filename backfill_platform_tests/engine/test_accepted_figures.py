"""Staged figures are held against those of what consumers see now, and of no other rows."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.privacy import Protection
from backfill_platform.engine.carry_out.accepted_figures import remembered_figures
from backfill_platform.engine.carry_out.run_rules import judged_by, run_rules
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.planner.rollback_facts import RollbackRequest
from backfill_platform_tests.engine.by_hand import run_by_hand, write_rows
from backfill_platform_tests.readings import BRONZE, START, week

DAYS = week(days=2)
OTHER_DAY = DAYS.last

Plan = Callable[..., Manifest]


@pytest.fixture
def plan(platform: Platform, intent: Callable[..., Any]) -> Plan:
    def make(origin: str, days: DayRange = DAYS) -> Manifest:
        return plan_run(platform, intent(BRONZE, days, origin))

    return make


@pytest.fixture
def first(platform: Platform, plan: Plan) -> Manifest:
    """Two days with two meters each."""
    manifest = plan("first")
    run_by_hand(platform, manifest, dict.fromkeys(DAYS, ("a", "b")))
    return manifest


def remembered(platform: Platform, manifest: Manifest) -> dict[date, Any]:
    rules = run_rules(platform, manifest, Protection())
    accepted = platform.ledger.accepted(BRONZE, DAYS)
    return remembered_figures(platform, manifest, accepted, rules)


def measured(platform: Platform, manifest: Manifest) -> dict[date, Any]:
    return {one.day: one for one in platform.ledger.measurements(manifest.run_id)}


def test_figures_of_accepted_rows_are_those_of_their_staging(
    platform: Platform, plan: Plan, first: Manifest
) -> None:
    assert remembered(platform, plan("again")) == measured(platform, first)


def test_each_day_has_the_figures_of_the_run_that_it_is_owed_to(
    platform: Platform, plan: Plan, first: Manifest
) -> None:
    second = plan("second", DayRange.of_day(START))
    run_by_hand(platform, second, {START: ("c",)})
    assert remembered(platform, plan("again")) == {
        START: measured(platform, second)[START],
        OTHER_DAY: measured(platform, first)[OTHER_DAY],
    }


def test_rows_that_somebody_else_wrote_are_measured_anew(
    platform: Platform, plan: Plan, first: Manifest
) -> None:
    write_rows(platform.warehouse.table_path(BRONZE), {START: ("c",)}, run_id="nobody")
    assert remembered(platform, plan("again")).keys() == {OTHER_DAY}


def test_figures_of_another_declaration_are_measured_anew(
    platform: Platform, plan: Plan, first: Manifest
) -> None:
    manifest = plan("again")
    otherwise = replace(manifest.validation, quality_digest="other")
    assert remembered(platform, replace(manifest, validation=otherwise)) == {}


def test_what_a_rollback_returned_has_the_figures_of_its_own_staging(
    platform: Platform, plan: Plan, first: Manifest
) -> None:
    second = plan("second")
    run_by_hand(platform, second, dict.fromkeys(DAYS, ("c",)))
    request = RollbackRequest(
        run_id=second.run_id,
        days=PartitionSet.of_range(DAYS),
        reason="wrong",
        ticket="",
        requested_by="bo",
    )
    roll_back(platform, plan_rollback(platform, request).run_id)
    assert remembered(platform, plan("again")) == measured(platform, first)


def test_a_run_planned_before_manifests_said_it_is_judged_as_its_table_declares(
    platform: Platform, plan: Plan
) -> None:
    manifest = plan("first")
    spec = platform.catalog.tables[BRONZE]
    former = replace(manifest.validation, gates=("privacy_kept",), quality_digest=None)
    judged = judged_by(spec, replace(manifest, format=3, validation=former))
    assert set(judged.gates) == {gate.value for gate in spec.gates} | {"privacy_kept"}
