"""What `status` and `watch` say of a rollback, and of the run that it takes back."""

from collections.abc import Callable

import pytest

from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.engine.rollback.undoing import undoable_until
from backfill_platform.planner.rollback_facts import RollbackRequest
from backfill_platform_tests.cli.conftest import Call
from backfill_platform_tests.engine.by_hand import run_by_hand
from backfill_platform_tests.readings import BRONZE, week

DAYS = week(days=3)


@pytest.fixture
def undone(platform: Platform, intent: Callable) -> Manifest:
    """What is to be taken back: the second run over three days."""
    for origin, meter in (("first", "a"), ("second", "b")):
        manifest = plan_run(platform, intent(BRONZE, DAYS, origin))
        run_by_hand(platform, manifest, dict.fromkeys(DAYS, (meter,)))
    return manifest


def planned(platform: Platform, undone: Manifest, days: DayRange) -> Manifest:
    request = RollbackRequest(
        run_id=undone.run_id,
        days=PartitionSet.of_range(days),
        reason="wrong",
        requested_by="me",
    )
    return plan_rollback(platform, request)


@pytest.fixture
def rollback(platform: Platform, undone: Manifest) -> Manifest:
    """Of two of the three days."""
    manifest = planned(platform, undone, week(days=2))
    return roll_back(platform, manifest.run_id).manifest


def words(text: str) -> str:
    return " ".join(text.split())


def test_a_rollback_says_what_it_undoes_and_what_is_left_of_that(call: Call, undone, rollback):
    screen = words(call("status", rollback.run_id).stdout)
    assert f"undoes {undone.run_id}, which is PUBLISHED and seen in 1 partition now" in screen
    assert "returns what version 1 held" in screen


def test_a_rollback_says_how_much_it_returned_and_nothing_of_computing(call: Call, rollback):
    screen = words(call("status", rollback.run_id).stdout)
    assert "done 2 of 2 partitions returned; nothing is computed" in screen
    assert "staged" not in screen


def test_a_rollback_says_until_when_it_can_itself_be_undone(call: Call, platform, rollback):
    until = undoable_until(platform, BRONZE, 3)
    screen = words(call("status", rollback.run_id).stdout)
    assert f"can itself be rolled back until {until:%Y-%m-%d %H:%M} UTC" in screen


def test_a_rollback_that_waits_has_returned_nothing_yet(call: Call, platform, undone):
    waiting = planned(platform, undone, DAYS)
    screen = words(call("status", waiting.run_id).stdout)
    assert "done 0 of 3 partitions returned" in screen
    assert "waits for somebody to carry it out" in screen


def test_the_page_of_the_undone_run_names_the_rollback(call: Call, undone, rollback):
    screen = words(call("status", undone.run_id).stdout)
    assert "since 1 of 3 that it changed are seen now" in screen
    assert f"2 partitions rolled back by {rollback.run_id}" in screen


def test_the_page_of_a_replaced_run_names_the_one_that_superseded_it(call: Call, platform, undone):
    first = platform.ledger.runs(BRONZE)[-1]
    screen = words(call("status", first.run_id).stdout)
    assert f"3 partitions superseded by {undone.run_id}" in screen


def test_a_run_whose_partitions_are_all_seen_says_nothing_more(call: Call, undone):
    assert "since " not in words(call("status", undone.run_id).stdout).partition("done")[2]


def test_programs_are_told_the_same(call: Call, undone, rollback):
    of_undone = call("status", undone.run_id, "--json").document
    of_rollback = call("status", rollback.run_id, "--json").document
    assert of_undone["taken_by"] == [
        {"run_id": rollback.run_id, "partitions": 2, "is_rollback": True}
    ]
    assert of_rollback["undoes"] == {"run_id": undone.run_id, "state": "PUBLISHED", "seen_now": 1}
    assert (of_rollback["changed"], of_rollback["seen_now"]) == (2, 2)


def test_watching_a_rollback_shows_no_speed(call: Call, rollback):
    screen = words(call("watch", rollback.run_id).stdout)
    assert "2 of 2 partitions returned" in screen
    assert "pace" not in screen
