"""Where a table keeps every version of its output, older versions are no leftovers. No JVM."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from deltalake import DeltaTable

from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.retirements import RetirementReason
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform, load_catalog
from backfill_platform.engine.retire.retiring import Retired, retire
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform_tests.engine.by_hand import run_by_hand
from backfill_platform_tests.engine.retire.lake import DAYS, later, meters, undo
from backfill_platform_tests.modes import NUMBERED


@pytest.fixture
def versioned(lake: Platform) -> Platform:
    return replace(lake, catalog=load_catalog("backfill_platform_tests.modes:DECLARATIONS"))


@pytest.fixture
def published(versioned: Platform, intent: Callable[..., Any]) -> tuple[Manifest, Manifest]:
    """Two versions of the same days."""
    first = plan_run(versioned, intent(NUMBERED, DAYS, "first"))
    run_by_hand(versioned, first, meters("a"))
    second = plan_run(versioned, intent(NUMBERED, DAYS, "second"))
    run_by_hand(versioned, second, meters("b"))
    return first, second


def versions(platform: Platform) -> set[tuple[int, str]]:
    rows = DeltaTable(platform.warehouse.table_path(NUMBERED)).to_pyarrow_table().to_pylist()
    return {(row["output_version"], row["meter"]) for row in rows}


def retired(platform: Platform) -> Retired:
    (one,) = retire(platform, (NUMBERED,), actor="ana")
    assert one.problem == ""
    return one


def test_an_older_version_that_is_referenced_stays_for_ever(
    versioned: Platform, published: tuple[Manifest, Manifest]
) -> None:
    assert retired(later(versioned, days=999)).done == ()
    assert versions(versioned) == {(1, "a"), (2, "b")}


def test_a_version_that_was_rolled_back_goes_and_the_other_stays(
    versioned: Platform, published: tuple[Manifest, Manifest]
) -> None:
    roll_back(versioned, plan_rollback(versioned, undo(published[1])).run_id)
    (record,) = retired(later(versioned, days=31)).done
    assert {(part.run_id, part.reason) for part in record.intent.parts} == {
        (published[1].run_id, RetirementReason.SUPERSEDED)
    }
    assert versions(versioned) == {(1, "a")}
