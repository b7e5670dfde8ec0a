"""A lake with a retention policy, and runs in it that were staged by hand."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform_tests.engine.by_hand import run_by_hand, stage_by_hand
from backfill_platform_tests.engine.retire.lake import DAYS, RETENTION, cancel, meters
from backfill_platform_tests.readings import BRONZE

Plan = Callable[..., Manifest]


@pytest.fixture
def lake(platform: Platform) -> Platform:
    return replace(platform, policy=replace(platform.policy, retention=RETENTION))


@pytest.fixture
def plan(lake: Platform, intent) -> Plan:
    def make(origin: str, days: DayRange = DAYS, table: str = BRONZE, **said: Any) -> Manifest:
        return plan_run(lake, intent(table, days, origin, **said))

    return make


@pytest.fixture
def staged(lake: Platform, plan: Plan) -> Manifest:
    manifest = plan("staged")
    stage_by_hand(lake, manifest, meters("a", "b"))
    return manifest


@pytest.fixture
def cancelled(lake: Platform, staged: Manifest) -> Manifest:
    cancel(lake, staged)
    return staged


@pytest.fixture
def replaced(lake: Platform, plan: Plan) -> tuple[Manifest, Manifest]:
    """The second run has replaced all that the first one published."""
    first = plan("first")
    run_by_hand(lake, first, meters("a", "b"))
    second = plan("second")
    run_by_hand(lake, second, meters("a", "b", "c"))
    return first, second
