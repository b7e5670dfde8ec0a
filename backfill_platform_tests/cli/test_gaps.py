"""The verb `gaps`: what tables lack, what would be done, and with --confirm that it is planned."""

from pathlib import Path

import pytest

import backfill_platform_tests
from backfill_platform.domain.modes import RunKind
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform_tests.engine.by_hand import run_by_hand
from backfill_platform_tests.readings import BRONZE, SILVER, week

REPAIRS = Path(backfill_platform_tests.__file__).parent / "policies" / "repairs.yaml"


@pytest.fixture
def behind(call, platform, intent, monkeypatch):
    """Two days of a week are published; the policy lets the others be repaired."""
    days = week(days=2)
    manifest = plan_run(platform, intent(BRONZE, days, "by-hand"))
    run_by_hand(platform, manifest, dict.fromkeys(days, ("a", "b")))
    monkeypatch.setenv("BACKFILL_GOVERNANCE", str(REPAIRS))


def test_what_would_be_done_is_shown_and_nothing_is_planned(call, platform, behind):
    answer = call("gaps", BRONZE)
    said = " ".join(answer.stdout.split())
    assert answer.exit_code == 0
    assert "would be repaired on" in said
    assert "1 gap: 1 would be repaired; the same with --confirm plans the repairs." in said
    assert platform.ledger.runs(kind=RunKind.REPAIR) == ()


def test_with_confirm_the_repairs_are_planned_and_the_next_step_is_said(call, platform, behind):
    answer = call("gaps", "--confirm")
    (run,) = platform.ledger.runs(kind=RunKind.REPAIR)
    assert f"backfill run {run.run_id} --confirm" in answer.stdout


def test_the_document_tells_gaps_and_outcomes_by_key(call, behind):
    document = call("gaps", "--json").document
    assert [gap["key"] for gap in document["gaps"]] == [
        f"{BRONZE}:empty-2025-01-03",
        f"{SILVER}:empty-2025-01-01",
    ]
    (planned,) = document["would_plan"]
    assert (planned["key"], planned["run_id"]) == (f"{BRONZE}:empty-2025-01-03", None)
    assert document["reported"] == [
        {
            "key": f"{SILVER}:empty-2025-01-01",
            "why": "what was never published is planned by hand: `backfill plan`",
        }
    ]


def test_the_document_of_what_was_done_names_the_runs(call, platform, behind):
    (planned,) = call("gaps", "--confirm", "--json").document["planned"]
    assert planned["run_id"] == platform.ledger.runs(kind=RunKind.REPAIR)[0].run_id


def test_where_there_are_no_gaps_that_is_said(call, platform, intent):
    manifest = plan_run(platform, intent(BRONZE, week(), "by-hand"))
    run_by_hand(platform, manifest, dict.fromkeys(week(), ("a", "b")))
    assert call("gaps", BRONZE).stdout == "No gaps.\n"


def test_a_policy_that_lets_nothing_be_repaired_is_named(call):
    assert "has no section `repairs`" in " ".join(call("gaps").stdout.split())


def test_a_mistyped_table_is_told_its_like(call):
    answer = call("gaps", "bronze.reading")
    assert (answer.exit_code, BRONZE in answer.stderr) == (2, True)


def test_both_words_are_one_too_many(call):
    assert call("gaps", "--dry-run", "--confirm").exit_code == 2
