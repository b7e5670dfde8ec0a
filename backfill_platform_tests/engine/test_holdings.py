"""Whether a table still holds what a run made visible, when somebody rearranged its files."""

from collections.abc import Callable
from pathlib import Path

import pytest
from deltalake import DeltaTable

from backfill_platform.domain.manifests import Manifest
from backfill_platform.engine.look.holdings import Held, check_holdings
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.planner.rollback_facts import RollbackRequest
from backfill_platform_tests.engine.by_hand import run_by_hand, write_rows
from backfill_platform_tests.readings import BRONZE, START, week

DAYS = week(days=2)

Publish = Callable[..., Manifest]


@pytest.fixture
def publish(platform: Platform, intent) -> Publish:
    def publish(origin: str, *meters: str, days=DAYS) -> Manifest:
        manifest = plan_run(platform, intent(BRONZE, days, origin))
        run_by_hand(platform, manifest, dict.fromkeys(days, meters))
        return manifest

    return publish


@pytest.fixture
def target(platform: Platform) -> Path:
    return platform.warehouse.table_path(BRONZE)


def undo(platform: Platform, manifest: Manifest) -> Manifest:
    request = RollbackRequest(run_id=manifest.run_id, days=None, reason="r", requested_by="me")
    return roll_back(platform, plan_rollback(platform, request).run_id).manifest


def held(platform: Platform, manifest: Manifest) -> list[Held]:
    found = check_holdings(
        platform.ledger,
        platform.warehouse,
        manifest.run_id,
        BRONZE,
        manifest.target.partitions,
    )
    return [one.held for one in found]


def compact(target: Path) -> None:
    DeltaTable(target).optimize.z_order(["meter"])


def test_a_compaction_of_the_same_rows_is_seen_through(platform, publish, target):
    manifest = publish("first", "a", "b")
    compact(target)
    assert held(platform, manifest) == [Held.AS_ACCEPTED] * 2


def test_a_row_that_somebody_added_before_a_compaction_is_told(platform, publish, target):
    manifest = publish("first", "a", "b")
    write_rows(target, {START: ("x",)}, run_id="somebody")
    compact(target)
    assert held(platform, manifest) == [Held.OTHER_FILES, Held.AS_ACCEPTED]


def test_as_many_rows_of_somebody_else_are_told(platform, publish, target):
    manifest = publish("first", "a")
    DeltaTable(target).delete(f"day = '{START}'")
    write_rows(target, {START: ("x",)}, run_id="somebody")
    assert held(platform, manifest) == [Held.OTHER_FILES, Held.AS_ACCEPTED]


def test_compacted_files_that_a_rollback_returned_are_as_accepted(platform, publish, target):
    publish("first", "a", "b")
    compact(target)
    rollback = undo(platform, publish("second", "c"))
    assert held(platform, rollback) == [Held.AS_ACCEPTED] * 2


def test_what_a_rollback_returned_may_be_compacted(platform, publish, target):
    publish("first", "a", "b")
    rollback = undo(platform, publish("second", "c"))
    compact(target)
    assert held(platform, rollback) == [Held.AS_ACCEPTED] * 2


def test_what_was_returned_to_nothing_holds_nothing(platform, publish):
    rollback = undo(platform, publish("first", "a"))
    assert held(platform, rollback) == [Held.AS_ACCEPTED] * 2


def test_a_row_in_what_was_returned_to_nothing_is_told(platform, publish, target):
    rollback = undo(platform, publish("first", "a"))
    write_rows(target, {START: ("x",)}, run_id="somebody")
    assert held(platform, rollback) == [Held.OTHER_FILES, Held.AS_ACCEPTED]
