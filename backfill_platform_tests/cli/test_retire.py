"""`backfill retire`: what it shows, that it acts only when told to, and what programs get."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from backfill_platform.cli import main
from backfill_platform.domain.clock import utc_now
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.engine import platform as platforms
from backfill_platform.engine.carry_out.controlling import cancel_run
from backfill_platform.engine.platform import Platform
from backfill_platform_tests.cli.conftest import Call
from backfill_platform_tests.engine.by_hand import stage_by_hand
from backfill_platform_tests.readings import BRONZE, SILVER

AGO = timedelta(days=8)


@pytest.fixture
def cancelled(platform: Platform, planned: Manifest, shipped_policy: None) -> Manifest:
    stage_by_hand(platform, planned, dict.fromkeys(planned.target.partitions, ("a",)))
    cancel_run(
        platform.ledger,
        platform.evidence,
        planned.run_id,
        actor="ana",
        reason="wrong month",
        now=platform.clock(),
    )
    return planned


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """The verbs believe that it is eight days later."""
    opened: Callable[..., Platform] = platforms.open_platform

    def open_later(settings) -> Platform:
        return opened(settings, clock=lambda: utc_now() + AGO)

    monkeypatch.setattr(platforms, "open_platform", open_later)


def folder(platform: Platform, manifest: Manifest) -> Path:
    return platform.warehouse.staging_path(BRONZE, manifest.run_id)


def test_without_a_word_it_only_shows(
    call: Call, platform: Platform, cancelled: Manifest, later: None
) -> None:
    answer = call("retire")
    said = " ".join(answer.stdout.split())
    assert answer.exit_code == 0
    assert f"{cancelled.run_id} run ended unpublished" in said
    assert "Nothing is removed; the same with --confirm removes it and records it." in said
    assert folder(platform, cancelled).exists()


def test_it_tells_what_stays_and_until_when(
    call: Call, platform: Platform, cancelled: Manifest
) -> None:
    ended = platform.ledger.run(cancelled.run_id).updated_at
    said = " ".join(call("retire", BRONZE).stdout.split())
    assert "nothing to retire" in said
    assert f"until {ended + timedelta(days=7):%Y-%m-%d %H:%M} UTC" in said


def test_with_confirm_it_removes_and_records_who_asked(
    call: Call, platform: Platform, cancelled: Manifest, later: None
) -> None:
    answer = call("retire", BRONZE, "--confirm", "--requested-by", "ana")
    (record,) = platform.ledger.retirements(BRONZE)
    assert (answer.exit_code, record.intent.actor) == (0, "ana")
    assert f"Recorded: {BRONZE}/retirement-1." in answer.stdout
    assert not folder(platform, cancelled).exists()


def test_a_second_time_nothing_has_to_go(call: Call, cancelled: Manifest, later: None) -> None:
    call("retire", "--confirm")
    assert "Nothing had to go." in call("retire", "--confirm").stdout


def test_programs_get_each_table_with_its_parts(
    call: Call, cancelled: Manifest, later: None
) -> None:
    bronze, silver = call("retire", "--json").document
    assert (bronze["table"], silver) == (
        BRONZE,
        {"table": SILVER, "plan": None, "done": [], "problem": ""},
    )
    (part,) = bronze["plan"]["parts"]
    assert (part["run_id"], part["reason"], part["possible_until"]) == (
        cancelled.run_id,
        "ABANDONED",
        None,
    )


def test_programs_get_what_was_recorded(call: Call, cancelled: Manifest, later: None) -> None:
    (bronze,) = call("retire", BRONZE, "--confirm", "--json").document
    assert [one["retirement_id"] for one in bronze["done"]] == [f"{BRONZE}/retirement-1"]


def test_a_run_that_has_not_ended_is_told_with_what_ends_it(
    call: Call, platform: Platform, planned: Manifest, shipped_policy: None, later: None
) -> None:
    stage_by_hand(platform, planned, dict.fromkeys(planned.target.partitions, ("a",)))
    assert platform.ledger.run(planned.run_id).state is RunState.VALIDATED
    said = " ".join(call("retire", BRONZE).stdout.split())
    assert "it is VALIDATED, so it has not ended (`backfill cancel` ends it)" in said


def test_a_policy_that_says_nothing_is_a_refusal(call: Call, planned: Manifest) -> None:
    answer = call("retire")
    assert answer.exit_code == main.EXIT_REFUSED
    assert "retention: is missing, so nothing is ever retired" in answer.stderr


def test_a_mistyped_table_is_told_its_like(
    call: Call, planned: Manifest, shipped_policy: None
) -> None:
    answer = call("retire", "bronze.reading")
    assert (answer.exit_code, f"did you mean {BRONZE}" in answer.stderr) == (2, True)


def test_showing_and_acting_at_once_is_wrong_usage(call: Call, planned: Manifest) -> None:
    assert call("retire", "--dry-run", "--confirm").exit_code == 2


def test_a_problem_with_a_table_is_told_and_is_a_refusal(
    call: Call, platform: Platform, cancelled: Manifest
) -> None:
    log = platform.warehouse.table_path(SILVER) / "_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020d}.json").write_text("nonsense\n")
    answer = call("retire")
    assert answer.exit_code == main.EXIT_REFUSED
    assert f"{SILVER}  not retired" in answer.stdout
