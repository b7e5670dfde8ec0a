"""A run that is judged otherwise than its table says so wherever somebody consents to it."""

import pytest

from backfill_platform_tests.readings import BRONZE

DAYS = ("--days", "2025-01-02..2025-01-03")
WHY = ("--reason", "the meter was wrong", "--requested-by", "ana")
MILDER = ("--severity", "values_valid=WARN", "--tolerance", "rows=2")
SAID = "gate values_valid is WARN, and BLOCK by its table"


@pytest.fixture
def milder(call, shipped_policy, platform):
    call("plan", BRONZE, *DAYS, *WHY, *MILDER, "--confirm")
    return platform.ledger.runs()[0].run_id


def test_what_is_said_otherwise_stands_in_the_manifest(call):
    found = call("plan", BRONZE, *DAYS, *WHY, *MILDER, "--dry-run", "--json").document
    judged = found["manifest"]["validation"]
    assert judged["severities"]["values_valid"] == "WARN"
    assert judged["tolerances"] == {"rows": {"absolute": "2", "percent": "0"}}
    assert judged["overridden"] == [SAID, "rows may stray by 2, and by nothing by its table"]


def test_the_plan_shows_it_and_warns(call):
    screen = call("plan", BRONZE, *DAYS, *WHY, *MILDER, "--dry-run").stdout
    assert f"! {SAID}" in screen
    assert "this run is judged more mildly than its table" in screen


def test_a_plan_that_overrides_nothing_shows_by_what_it_is_judged(call):
    screen = call("plan", BRONZE, *DAYS, *WHY, "--dry-run").stdout
    assert "judged    by 8 gates" in screen
    assert "a day is computed from what its window holds now (BY_TIME_PARTITION)" in screen


def test_show_and_the_screen_before_an_approval_say_it_again(call, milder):
    assert f"! {SAID}" in call("show", milder).stdout
    assert f"! {SAID}" in call("approve", milder, "--as", "team-lead", "--dry-run").stdout


def test_who_drafts_an_approval_to_sign_elsewhere_is_told_beside_the_text(call, milder):
    answer = call("approve", milder, "--as", "team-lead", "--print-request")
    assert SAID in answer.stderr
    assert answer.stdout.startswith("{")


def test_a_script_that_approves_without_looking_is_told(call, milder):
    answer = call("approve", milder, "--as", "team-lead", "--confirm")
    assert (answer.exit_code, SAID in answer.stderr) == (0, True)


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        (("--severity", "values_valid"), "write GATE=SEVERITY"),
        (("--tolerance", "rows=few"), "write MEASURE=2 or MEASURE=0.5%"),
        (("--expect", "rows=-60%"), "write MEASURE=-90%..-60%"),
        (("--tolerance", "rows=2", "--tolerance", "rows=1%"), "rows is said twice"),
    ],
)
def test_what_is_written_otherwise_is_a_usage_error_that_shows_how(call, said, remedy):
    answer = call("plan", BRONZE, *DAYS, *WHY, *said, "--dry-run")
    assert (answer.exit_code, remedy in " ".join(answer.stderr.split())) == (2, True)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (("--severity", "key_unique=WARN"), "gate key_unique stays BLOCK"),
        (("--severity", "golden_kept=WARN"), "bronze.readings has no gate golden_kept"),
        (("--tolerance", "reading=2"), "no measure 'reading'"),
        (("--tolerance", "rows=-2"), "the tolerance of rows is below zero"),
        (("--expect", "rows=-90%..-60%"), "bounds no change of a measure 'rows'"),
    ],
)
def test_what_no_run_may_say_refuses_the_plan(call, platform, said, reason):
    answer = call("plan", BRONZE, *DAYS, *WHY, *said, "--confirm")
    assert (answer.exit_code, reason in " ".join(answer.stderr.split())) == (1, True)
    assert platform.ledger.runs() == ()
