"""What gates hold is shown and decided about by one verb, and every screen says that it waits."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.engine.platform import Platform
from backfill_platform_tests.cli.conftest import NOBODY, Call
from backfill_platform_tests.engine.by_hand import stage_by_hand
from backfill_platform_tests.readings import week

DAYS = week(days=3)
OWNERS = Path(NOBODY).with_name("owners.yaml")
WORD = ("--as", "bo", "--reason", "meters were taken out", "--confirm")
REVIEW = "the review of 1 held verdict by an owner"


@pytest.fixture
def held(
    call: Call, platform: Platform, planned: Manifest, monkeypatch: pytest.MonkeyPatch
) -> Manifest:
    monkeypatch.setenv("BACKFILL_GOVERNANCE", str(OWNERS))
    stage(platform, planned, held=[DAYS.last])
    return planned


def stage(platform: Platform, manifest: Manifest, **given: Any) -> None:
    stage_by_hand(platform, manifest, dict.fromkeys(DAYS, ("a", "b")), **given)


def test_what_is_held_is_shown_with_what_was_expected_and_found(call: Call, held: Manifest) -> None:
    answer = call("review", held.run_id)
    assert answer.exit_code == 3
    for said in ("2025-01-03", "change_expected", "10 (-20 % to +20 %)", "fell by 80.0 %"):
        assert said in answer.stdout
    assert f"backfill review {held.run_id} --accept --as NAME" in answer.stdout


def test_programs_get_every_held_verdict_and_every_review(call: Call, held: Manifest) -> None:
    call("review", held.run_id, "--accept", *WORD)
    found = call("review", held.run_id, "--json").document
    assert [one["day"] for one in found["held"]] == ["2025-01-03"]
    assert found["unreviewed"] == 0
    assert [one["reason"] for one in found["reviews"]] == ["meters were taken out"]


def test_once_accepted_nothing_waits_for_a_review(call: Call, held: Manifest) -> None:
    done = call("review", held.run_id, "--accept", *WORD)
    assert (done.exit_code, call("review", held.run_id).exit_code) == (0, 0)
    assert "1 held verdict accepted by bo as meters" in done.stdout
    assert f"backfill publish {held.run_id}" in done.stdout


def test_accepting_twice_equals_accepting_once(call: Call, held: Manifest) -> None:
    call("review", held.run_id, "--accept", *WORD)
    again = call("review", held.run_id, "--accept", *WORD)
    assert (again.exit_code, "it was recorded before" in again.stdout) == (0, True)


def test_a_rejection_ends_the_run(call: Call, platform: Platform, held: Manifest) -> None:
    answer = call("review", held.run_id, "--reject", *WORD)
    assert (answer.exit_code, platform.ledger.run(held.run_id).state) == (0, RunState.REJECTED)


def test_a_dry_run_shows_the_word_and_records_nothing(
    call: Call, platform: Platform, held: Manifest
) -> None:
    answer = call("review", held.run_id, "--accept", *WORD[:-1], "--dry-run")
    assert "It would be: 1 held verdict accepted by bo as meters." in answer.stdout
    assert platform.ledger.reviews(held.run_id) == ()


@pytest.mark.parametrize(
    ("given", "exit_code", "why"),
    [
        (("--accept", "--reject", *WORD), 2, "not both"),
        (("--accept", "--reason", "right", "--confirm"), 2, "say whose word it is"),
        (("--accept", "--as", "bo", "--confirm"), 2, "say why"),
        (("--accept", *WORD[:-1]), 2, "--confirm acts"),
        (("--accept", "--as", "cy", *WORD[2:]), 1, "meters may; that is bo"),
        (("--accept", "--as", "tests", *WORD[2:]), 1, "nobody decides on their own request"),
    ],
)
def test_what_would_not_count_is_refused(
    call: Call, platform: Platform, held: Manifest, given: tuple[str, ...], exit_code: int, why: str
) -> None:
    answer = call("review", held.run_id, *given)
    assert (answer.exit_code, why in " ".join(answer.stderr.split())) == (exit_code, True)
    assert platform.ledger.reviews(held.run_id) == ()


def test_where_nothing_is_held_there_is_nothing_to_accept(
    call: Call, platform: Platform, planned: Manifest
) -> None:
    stage(platform, planned)
    answer = call("review", planned.run_id, "--accept", *WORD)
    assert (answer.exit_code, "is held, so there is nothing to review" in answer.stderr) == (
        1,
        True,
    )
    assert call("review", planned.run_id).exit_code == 0


def test_status_says_for_whom_a_held_run_waits(call: Call, held: Manifest) -> None:
    found = call("status", held.run_id, "--json").document
    assert (found["held"], found["next_step"]["waits_for"]) == (1, REVIEW)
    shown = call("status", held.run_id).stdout
    assert "1 held verdict to review" in shown
    assert f"backfill review {held.run_id}" in shown


def test_a_list_tells_held_runs_apart(call: Call, held: Manifest) -> None:
    assert "AWAITING_PUBLISH (1 held)" in call("list").stdout
    assert [one["held"] for one in call("list", "--json").document] == [1]


def test_validating_a_held_run_waits_for_somebody(call: Call, held: Manifest) -> None:
    answer = call("validate", held.run_id)
    assert (answer.exit_code, "10 (-20 % to +20 %)" in answer.stdout) == (3, True)
    found = call("validate", held.run_id, "--json").document
    gates = {one["gate"]: (one["passed"], one["held"]) for one in found["gates"]}
    assert gates["change_expected"] == (2, 1)


def test_validating_a_reviewed_run_shows_who_accepted_what(call: Call, held: Manifest) -> None:
    call("review", held.run_id, "--accept", *WORD)
    answer = call("validate", held.run_id)
    assert (answer.exit_code, "accepted by bo as meters" in answer.stdout) == (0, True)


def test_publishing_what_is_held_waits_for_somebody(publish: Call, held: Manifest) -> None:
    answer = publish(held.run_id, "--confirm")
    assert (answer.exit_code, answer.stderr.startswith("approval-missing")) == (3, True)
    assert REVIEW in answer.stderr


def test_what_was_accepted_is_published(
    call: Call, publish: Call, platform: Platform, held: Manifest
) -> None:
    call("review", held.run_id, "--accept", *WORD)
    assert publish(held.run_id, "--confirm").exit_code == 0
    accepted = platform.ledger.accepted(held.target.table, DAYS)
    assert [one.run_id for one in accepted.values()] == [held.run_id] * 3


def test_a_run_with_a_warning_waits_for_nobody(
    call: Call, publish: Call, platform: Platform, planned: Manifest
) -> None:
    stage(platform, planned, warned=[date(2025, 1, 1)])
    found = call("validate", planned.run_id)
    assert (found.exit_code, "meters fell" in found.stdout) == (0, True)
    assert publish(planned.run_id, "--confirm").exit_code == 0
