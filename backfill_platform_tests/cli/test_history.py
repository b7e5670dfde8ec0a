"""The verb `history`: what was seen at a time in the past, and who is frozen out now."""

from datetime import timedelta

import pytest

from backfill_platform.domain.clock import utc_now
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform_tests.engine.by_hand import run_by_hand, write_rows
from backfill_platform_tests.readings import BRONZE, START, week

DAYS = week(days=3)


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
