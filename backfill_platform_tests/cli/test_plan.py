"""A plan is shown before it is recorded, and recorded only when that is said."""

from datetime import date

import pytest

from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform_tests.engine.by_hand import run_by_hand
from backfill_platform_tests.readings import BRONZE, land, week

DAYS = ("--days", "2025-01-02..2025-01-03")
WHY = ("--reason", "the meter was wrong", "--requested-by", "ana")


def test_a_dry_run_shows_the_plan_and_records_nothing(call, platform):
    answer = call("plan", BRONZE, *DAYS, *WHY, "--dry-run")
    assert answer.exit_code == 0
    assert "would be planned" in answer.stdout
    assert platform.ledger.runs() == ()


def test_confirmed_it_is_recorded_with_who_asked_and_why(call, platform):
    call("plan", BRONZE, *DAYS, *WHY, "--ticket", "T-1", "--confirm")
    (run,) = platform.ledger.runs()
    assert (run.actor, run.reason, str(run.days)) == (
        "ana",
        "the meter was wrong",
        "2025-01-02..2025-01-03",
    )


def test_what_is_recorded_is_what_the_dry_run_showed(call):
    shown = call("plan", BRONZE, *DAYS, *WHY, "--dry-run", "--json").document
    recorded = call("plan", BRONZE, *DAYS, *WHY, "--confirm", "--json").document
    moving = {"planned_at", "valid_until", "group_id", "findings"}
    assert {**shown["manifest"], **dict.fromkeys(moving)} == {
        **recorded["manifest"],
        **dict.fromkeys(moving),
    }
    assert (shown["recorded"], recorded["recorded"]) == (False, True)


def test_each_plan_is_a_run_of_its_own(call, platform):
    call("plan", BRONZE, "--days", "2025-01-02", *WHY, "--confirm")
    call("plan", BRONZE, "--days", "2025-01-03", *WHY, "--confirm")
    assert len(platform.ledger.runs()) == 2


@pytest.mark.parametrize("said", [(), ("--dry-run", "--confirm")])
def test_a_script_says_exactly_one_of_the_two(call, platform, said):
    answer = call("plan", BRONZE, *DAYS, *WHY, *said)
    assert answer.exit_code == 2
    assert "one of the two" in answer.stderr
    assert platform.ledger.runs() == ()


@pytest.mark.parametrize(
    "days",
    [(), (*DAYS, "--full"), ("--start", "2025-01-02"), (*DAYS, "--start", "2025-01-02")],
)
def test_the_days_are_said_once_and_whole(call, days):
    assert call("plan", BRONZE, *days, *WHY, "--dry-run").exit_code == 2


def test_both_ends_of_a_range_are_included(call):
    ends = ("--start", "2025-01-02", "--end", "2025-01-04")
    found = call("plan", BRONZE, *ends, *WHY, "--dry-run", "--json").document
    assert found["manifest"]["target"]["partitions"]["ranges"] == [
        {"start": "2025-01-02", "end_exclusive": "2025-01-05"}
    ]


def test_full_means_all_that_the_inputs_hold(call):
    found = call("plan", BRONZE, "--full", *WHY, "--dry-run", "--json").document["manifest"]
    assert (found["is_full"], found["target"]["partitions"]["ranges"]) == (
        True,
        [{"start": "2025-01-01", "end_exclusive": "2025-01-08"}],
    )


def test_a_mistyped_table_is_answered_with_its_like(call):
    answer = call("plan", "bronze.reading", *DAYS, *WHY, "--dry-run")
    assert answer.exit_code == 2
    assert "did you mean bronze.readings" in answer.stderr


def test_every_reason_of_a_refusal_is_told_at_once(call):
    answer = call("plan", BRONZE, "--days", "2024-12-30..2025-01-02", "--dry-run")
    assert answer.exit_code == 1
    assert answer.stderr.startswith("plan-refused: ")
    assert "names no reason" in answer.stderr
    assert "starts on 2025-01-01" in answer.stderr


def test_limits_stand_in_the_manifest(call):
    limits = ("--max-rows-per-minute", "60", "--off-peak", "22:00-06:00", "--max-cost-usd", "9.50")
    found = call("plan", BRONZE, *DAYS, *WHY, *limits, "--dry-run", "--json").document
    kept = found["manifest"]["safety"]["limits"]
    assert (kept["max_rows_per_minute"], kept["off_peak"], kept["max_cost_usd"]) == (
        60,
        {"start": "22:00", "end": "06:00"},
        "9.5",
    )


def test_a_limit_of_the_whole_run_that_is_too_small_refuses_the_plan(call):
    answer = call("plan", BRONZE, *DAYS, *WHY, "--max-rows", "1", "--dry-run")
    assert answer.exit_code == 1


@pytest.mark.parametrize("window", ["22:00", "noon-midnight", "06:00-06:00"])
def test_a_window_that_is_none_is_a_usage_error(call, window):
    answer = call("plan", BRONZE, *DAYS, *WHY, "--off-peak", window, "--dry-run")
    assert (answer.exit_code, "22:00-06:00" in answer.stderr) == (2, True)


def test_the_screen_says_who_must_approve_and_what_follows(call, shipped_policy, platform):
    screen = call("plan", BRONZE, *DAYS, *WHY, "--dry-run").stdout
    assert "team-lead, before it is published" in screen
    assert "silver.totals: 4 partitions, 2025-01-01..2025-01-04" in screen


def test_a_recorded_plan_names_the_next_command(call, shipped_policy, platform):
    land(platform.landing, week(days=40))
    answer = call("plan", BRONZE, "--days", "2025-01-01..2025-02-05", *WHY, "--confirm")
    (run,) = platform.ledger.runs()
    assert f"{run.run_id} is AWAITING_APPROVAL" in answer.stdout
    assert f"backfill approve {run.run_id} --as NAME --role manager --key FILE" in answer.stdout


def test_a_changed_scope_replaces_the_run_before_it(call, planned, platform):
    call("plan", BRONZE, *DAYS, *WHY, "--replaces", planned.run_id, "--confirm")
    assert platform.ledger.run(planned.run_id).state == "CANCELLED"


def test_an_estimate_begins_with_rows_time_and_money(call):
    lines = call("estimate", BRONZE, *DAYS).stdout.splitlines()
    assert [line.partition(":")[0] for line in lines[1:4]] == [
        "Total records",
        "Estimated processing time",
        "Estimated cost",
    ]


def test_an_estimate_is_given_while_another_run_holds_the_days(call, planned, platform):
    found = call("estimate", BRONZE, "--days", "2025-01-01..2025-01-03", "--json")
    assert (found.exit_code, found.document["estimate"]["rows_read"]) == (0, 6)
    assert [run.run_id for run in platform.ledger.runs()] == [planned.run_id]


@pytest.fixture
def accepted(platform, intent):
    """The two days as a run has published them."""
    days = DayRange.closed(date(2025, 1, 2), date(2025, 1, 3))
    manifest = plan_run(platform, intent(BRONZE, days, "accepted"))
    run_by_hand(platform, manifest, dict.fromkeys(days, ("a", "b")))
    return manifest.run_id


def test_days_that_are_left_are_shown_with_the_run_that_computed_them(call, accepted):
    shown = " ".join(call("plan", BRONZE, *DAYS, *WHY, "--dry-run").stdout.split())
    assert f"2 partitions as {accepted} computed them, from the same" in shown
    document = call("plan", BRONZE, *DAYS, *WHY, "--dry-run", "--json").document
    (left,) = document["manifest"]["unchanged"]
    assert (left["run_id"], [*left["compared"]]) == (accepted, ["2025-01-02", "2025-01-03"])


def test_every_day_is_computed_where_that_is_asked_for(call, accepted):
    asked = ("plan", BRONZE, *DAYS, *WHY, "--compute-all", "--dry-run")
    assert "every day is computed, as was asked for" in " ".join(call(*asked).stdout.split())
    manifest = call(*asked, "--json").document["manifest"]
    assert (manifest["unchanged"], manifest["computes_all"]) == ([], True)


def test_an_estimate_counts_the_rows_that_are_read(call, accepted):
    asked = ("estimate", BRONZE, *DAYS, "--json")
    few, every = call(*asked).document, call(*asked, "--compute-all").document
    assert few["estimate"]["rows_read"] == 0
    assert every["estimate"]["rows_read"] == 4
