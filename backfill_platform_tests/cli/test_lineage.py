"""`lineage`: the events of a run, those that are untold, and telling them."""

import json
from pathlib import Path
from typing import Any

import pytest

from backfill_platform.domain.manifests import Manifest
from backfill_platform_tests.cli.conftest import Answer, Call
from backfill_platform_tests.engine.by_hand import run_by_hand
from backfill_platform_tests.readings import week

DAYS = week(days=3)


@pytest.fixture
def done(platform, planned: Manifest) -> Manifest:
    run_by_hand(platform, planned, dict.fromkeys(DAYS, ("a", "b")))
    return planned


def kinds(answer: Answer) -> list[Any]:
    return [json.loads(line)["eventType"] for line in answer.stdout.splitlines()]


def test_the_events_of_a_run_are_printed_told_or_not(call: Call, done: Manifest) -> None:
    call("lineage", "--send")
    assert sorted(kinds(call("lineage", done.run_id))) == [
        *("COMPLETE", "COMPLETE", "START", "START")
    ]


def test_what_is_untold_is_printed_and_stays_untold(call: Call, done: Manifest) -> None:
    call("lineage")
    assert len(kinds(call("lineage"))) == 4


def test_what_is_sent_is_told_once(call: Call, done: Manifest, home: Path) -> None:
    assert "4 events were told" in call("lineage", "--send").stdout
    assert "0 events were told" in call("lineage", "--send").stdout
    told = (home / "lineage" / "openlineage.jsonl").read_text().splitlines()
    assert len(told) == 4


def test_one_run_alone_is_not_sent(call: Call, done: Manifest) -> None:
    assert call("lineage", done.run_id, "--send").exit_code == 2


def test_a_run_that_is_not_there_is_refused(call: Call) -> None:
    assert call("lineage", "bf-1").exit_code == 1
