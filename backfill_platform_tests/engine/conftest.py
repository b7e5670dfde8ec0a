"""Intents over the tiny domain of `readings`."""

from collections.abc import Callable

import pytest

from backfill_platform.domain.intents import Intent
from backfill_platform.domain.modes import ExecutionMode, Knowledge, RunKind
from backfill_platform.domain.partitions import DayRange, PartitionSet

MakeIntent = Callable[..., Intent]


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
