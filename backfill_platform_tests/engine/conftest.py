"""A platform over the tiny domain of `readings`, in a folder of the test's own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from backfill_platform.domain.intents import Intent
from backfill_platform.domain.modes import ExecutionMode, Knowledge, RunKind
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.engine.platform import Platform, open_platform
from backfill_platform.ledger.migrate import migrate
from backfill_platform.settings import load_settings
from backfill_platform_tests.readings import land, week

MakeIntent = Callable[..., Intent]


@pytest.fixture
def platform(home: Path) -> Platform:
    settings = load_settings(catalog="backfill_platform_tests.readings:DECLARATIONS")
    migrate(settings.ledger_url)
    land(settings.landing, week())
    return open_platform(settings)


@pytest.fixture
def intent() -> MakeIntent:
    def make(table: str, days: DayRange, origin: str, **changes) -> Intent:
        given = {
            "table": table,
            "days": PartitionSet.of_range(days),
            "kind": RunKind.BACKFILL,
            "mode": ExecutionMode.BACKFILL,
            "knowledge": Knowledge.UP_TO_SNAPSHOT,
            "reason": "tests",
            "requested_by": "tests",
            "origin": origin,
            "group_id": origin,
            "transform_version": "1.0.0",
        }
        return Intent(**(given | changes))

    return make
