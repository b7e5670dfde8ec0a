"""A platform whose policy repairs small gaps, and whose clock tests move by hand."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import backfill_platform_tests
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.carry_out.progress import move_run
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform, load_policy
from backfill_platform_tests.engine.by_hand import run_by_hand
from backfill_platform_tests.readings import BRONZE

REPAIRS = Path(backfill_platform_tests.__file__).parent / "policies" / "repairs.yaml"
UNTIL_FAILED = (RunState.PLANNED, RunState.APPROVED, RunState.STAGING, RunState.FAILED)


class Clock:
    """Later than whatever the tests land, so that nothing seems to have landed since."""

    def __init__(self) -> None:
        self.now = datetime(2100, 1, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, *, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def repairing(platform: Platform, clock: Clock) -> Platform:
    return replace(platform, clock=clock, policy=load_policy(REPAIRS))


@pytest.fixture
def publish(repairing: Platform, intent: Callable[..., Any]) -> Callable[..., RunId]:
    """Days of `bronze.readings`, two rows each, by a run that somebody asked for."""

    def make(days: Iterable[date], origin: str = "by-hand") -> RunId:
        asked = [*days]
        made = intent(BRONZE, DayRange.closed(asked[0], asked[-1]), origin)
        return carry_out(repairing, plan_run(repairing, made).run_id)

    return make


def carry_out(platform: Platform, run_id: RunId) -> RunId:
    """As a Dagster run would, with what landed."""
    manifest = load_manifest(platform, run_id)
    run_by_hand(platform, manifest, dict.fromkeys(manifest.target.partitions, ("a", "b")))
    return run_id


def fail(platform: Platform, run_id: RunId) -> None:
    """As a run whose transform or gate fails."""
    for state, following in pairwise(UNTIL_FAILED):
        move_run(platform, run_id, state, following, "tests")
