"""A platform under a clock that tests move, and its sensors."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from backfill_platform.engine.platform import Platform
from backfill_platform_tests.orchestration.sensors.ticks import World, make_world


class Clock:
    """Goes on by itself, and further when it is told to."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._ahead = timedelta()

    def __call__(self) -> datetime:
        return self._now() + self._ahead

    def pass_(self, **time: float) -> None:
        self._ahead += timedelta(**time)


@pytest.fixture
def clock(platform: Platform) -> Clock:
    return Clock(platform.clock)


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        yield instance


@pytest.fixture
def world(platform: Platform, clock: Clock, instance: dg.DagsterInstance) -> World:
    return make_world(replace(platform, clock=clock), instance)
