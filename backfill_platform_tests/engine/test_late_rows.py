"""What arrived after a day was accepted is told by two manifests, without opening any input."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.carry_out.late_rows import late_rows
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.settings import load_settings
from backfill_platform.validator.gates.rules import LateRows
from backfill_platform_tests.engine.by_hand import run_by_hand, stage_by_hand, write_rows
from backfill_platform_tests.ledger.tampering import tamper
from backfill_platform_tests.readings import BRONZE, START, land, week

DAYS = week(days=2)
OTHER_DAY = DAYS.last
METERS = dict.fromkeys(DAYS, ("a", "b"))
LATER = (("a", 1), ("b", 2), ("c", 3))  # a row more than at first

Plan = Callable[..., Manifest]


@pytest.fixture
def plan(platform: Platform, intent: Callable[..., Any]) -> Plan:
    def make(origin: str, days: DayRange = DAYS) -> Manifest:
        return plan_run(platform, intent(BRONZE, days, origin))

    return make


def late(platform: Platform, manifest: Manifest) -> dict[date, LateRows | None]:
    return late_rows(platform, manifest, DAYS)


def test_of_what_is_published_first_nothing_is_late(platform: Platform, plan: Plan) -> None:
    assert late(platform, plan("first")) == {}


def test_rows_that_were_landed_since_are_counted_by_day(platform: Platform, plan: Plan) -> None:
    run_by_hand(platform, plan("first"), METERS)
    land(platform.landing, [START], LATER)
    assert late(platform, plan("again")) == {
        START: LateRows(computed_from=2, arrived_since=1),
        OTHER_DAY: LateRows(computed_from=2, arrived_since=0),
    }


def test_it_is_the_accepted_run_and_not_the_last_one_that_counts(
    platform: Platform, plan: Plan
) -> None:
    run_by_hand(platform, plan("first"), METERS)
    land(platform.landing, [START], LATER)
    unpublished = plan("unpublished")
    stage_by_hand(platform, unpublished, METERS)
    assert late(platform, unpublished)[START] == LateRows(computed_from=2, arrived_since=1)


def test_what_no_run_has_written_was_computed_from_nothing_that_is_known(
    platform: Platform, plan: Plan
) -> None:
    run_by_hand(platform, plan("first", DayRange.of_day(START)), METERS)
    write_rows(platform.warehouse.table_path(BRONZE), {OTHER_DAY: ("c",)}, run_id="nobody")
    assert late(platform, plan("again"))[OTHER_DAY] == LateRows(computed_from=0, arrived_since=2)


def test_a_manifest_that_cannot_be_read_leaves_it_unknown(platform: Platform, plan: Plan) -> None:
    first: RunId = plan("first").run_id
    run_by_hand(platform, plan("first"), METERS)
    again = plan("again")
    url = load_settings().ledger_url
    tamper(url, "UPDATE run SET manifest_json = '{}' WHERE run_id = :first", first=first)
    assert late(platform, again) == {START: None, OTHER_DAY: None}
