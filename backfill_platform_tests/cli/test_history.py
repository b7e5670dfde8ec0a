"""The verb `history`: what was seen at a time in the past, and who is frozen out now."""

from datetime import timedelta

import pytest

from backfill_platform.domain.clock import utc_now
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.planner.rollback_facts import RollbackRequest
from backfill_platform_tests.engine.by_hand import run_by_hand, write_rows
from backfill_platform_tests.readings import BRONZE, START, week

DAYS = week(days=3)


def undo(platform, manifest, days):
    request = RollbackRequest(
        run_id=manifest.run_id,
        days=PartitionSet.of_range(days),
        reason="wrong",
        requested_by="me",
    )
    return roll_back(platform, plan_rollback(platform, request).run_id).manifest


@pytest.fixture
def published(platform, intent):
    manifest = plan_run(platform, intent(BRONZE, DAYS, "first"))
    run_by_hand(platform, manifest, dict.fromkeys(DAYS, ("a", "b")))
    return manifest


def now() -> str:
    return utc_now().isoformat()


def test_days_that_were_seen_alike_stand_on_one_line(call, published):
    answer = call("history", BRONZE, "--at", now())
    assert answer.exit_code == 0
    assert (
        f"2025-01-01..2025-01-03  {published.run_id}     6  ledger and log agree" in answer.stdout
    )
    assert "Ledger and Delta log agree on 3 days." in answer.stdout


def test_a_disagreement_is_shown_plainly_and_ends_with_1(call, platform, published):
    target = platform.warehouse.table_path(BRONZE)
    write_rows(target, {START: ("x",)}, run_id="somebody")
    answer = call("history", BRONZE, "--at", now())
    assert answer.exit_code == 1
    assert "THEY DISAGREE" in answer.stdout
    assert "published 2 rows, and the table held 3" in answer.stdout
    assert "Ledger and Delta log do not agree on 1 of 3 days." in answer.stdout


def test_one_day_is_a_document_for_programs(call, published):
    found = call("history", BRONZE, "--at", now(), "--day", "2025-01-02", "--json").document
    (day,) = found["days"]
    assert (found["version"], day["day"], day["agreement"]) == (1, "2025-01-02", "AGREED")
    assert day["accepted"]["run_id"] == published.run_id


def test_before_everything_nothing_was_to_be_seen(call, published):
    answer = call("history", BRONZE, "--at", "2020-01-01T00:00")
    assert (answer.exit_code, "Nothing was to be seen" in answer.stdout) == (0, True)


def test_a_time_that_is_none_is_wrong_usage(call, published):
    answer = call("history", BRONZE, "--at", "yesterday")
    assert (answer.exit_code, "write 2026-05-03T12:00 (UTC)" in answer.stderr) == (2, True)


def test_a_run_says_how_many_partitions_it_changed(call, platform, intent, published):
    again = plan_run(platform, intent(BRONZE, DAYS, "again"))
    run_by_hand(platform, again, {**dict.fromkeys(DAYS, ("a", "b")), START: ("c",)})
    assert "3 published, 1 changed, 1 seen now" in call("history", BRONZE).stdout


@pytest.fixture
def rolled_back(platform, intent, published):
    """The second of two runs, on the first day alone."""
    second = plan_run(platform, intent(BRONZE, DAYS, "second"))
    run_by_hand(platform, second, dict.fromkeys(DAYS, ("c",)))
    return second, undo(platform, second, week(days=1))


def test_a_rollback_says_what_it_took_back(call, rolled_back):
    undone, rollback = rolled_back
    screen = call("history", BRONZE).stdout
    assert f"{rollback.run_id}  ROLLBACK  PUBLISHED: 1 returned, 1 seen now" in screen
    assert f"takes back {undone.run_id}" in screen


def test_a_run_says_who_has_replaced_what_of_it(call, published, rolled_back):
    undone, rollback = rolled_back
    screen = call("history", BRONZE).stdout
    assert "3 published, 3 changed, 2 seen now" in screen
    assert f"replaced since: 1 by {rollback.run_id}" in screen
    assert f"replaced since: 3 by {undone.run_id}" in screen


def test_programs_are_told_the_same_of_each_run(call, published, rolled_back):
    undone, rollback = rolled_back
    found = call("history", BRONZE, "--json").document
    assert [(one["undoes"], one["taken_by"]) for one in found] == [
        (undone.run_id, {}),
        (None, {rollback.run_id: 1}),
        (None, {undone.run_id: 3}),
    ]


def test_the_history_of_a_day_says_what_a_rollback_took_back(call, rolled_back):
    undone, rollback = rolled_back
    screen = call("history", BRONZE, "--day", "2025-01-01").stdout
    assert f"{rollback.run_id} took back {undone.run_id}" in screen


def test_whoever_is_frozen_out_reads_by_whom_and_until_when(call, platform, published):
    until = platform.ledger.acquire_fence(
        published.run_id,
        BRONZE,
        PartitionSet.of_range(DAYS),
        gives_way=False,
        lease_seconds=int(timedelta(hours=1).total_seconds()),
        now=utc_now(),
    ).expires_at
    screen = call("history", BRONZE).stdout
    assert f"Live writers wait for {published.run_id} on 2025-01-01..2025-01-03" in screen
    assert f"until {until:%Y-%m-%d %H:%M} UTC" in " ".join(screen.split())
