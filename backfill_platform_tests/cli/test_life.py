"""A run's whole life as somebody types it, on real Spark, Delta and Dagster, verb by verb."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from backfill_platform.ledger.migrate import migrate
from backfill_platform.settings import PROJECT, load_settings
from backfill_platform_tests.readings import BRONZE, land, week

VERBS = ("run", "publish")
BACKFILL = Path(sys.executable).with_name("backfill")


@dataclass(frozen=True)
class Shell:
    """Each call is a process of its own, as at a terminal."""

    home: Path

    def call(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        given = {
            "BACKFILL_HOME": str(self.home),
            "BACKFILL_CATALOG": "backfill_platform_tests.readings:DECLARATIONS",
            "BACKFILL_GOVERNANCE": str(PROJECT / "governance.yaml"),
            "BACKFILL_SPARK_MASTER": "local[2]",
            "PYTHONPATH": str(PROJECT),
            "COLUMNS": "100",
        }
        command = [
            "env",
            *(f"{name}={value}" for name, value in given.items()),
            str(BACKFILL),
            *arguments,
        ]
        return subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300
        )

    def document(self, *arguments: str) -> Any:
        return json.loads(self.call(*arguments, "--json").stdout)


@dataclass(frozen=True)
class Life:
    shell: Shell
    run_id: str
    computed: "subprocess.CompletedProcess[str]"
    compared: Any
    published_unasked: "subprocess.CompletedProcess[str]"
    published: "subprocess.CompletedProcess[str]"


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Life:
    """Three days, of which old and new can be read: a team lead has to agree to publication."""
    home = tmp_path_factory.mktemp("life")
    settings = load_settings(home=home)
    migrate(settings.ledger_url)
    settings.dagster_storage.mkdir()
    land(settings.landing, week())
    shell = Shell(home)
    days = ("--days", "2025-01-01..2025-01-03")
    who = ("--reason", "first load", "--ticket", "T-1", "--requested-by", "ana")
    plan = shell.document("plan", BRONZE, *days, *who, "--publish-scope", "dual-read", "--confirm")
    run_id = plan["manifest"]["run_id"]
    computed = shell.call("run", run_id, "--confirm", "--json")
    compared = shell.document("compare", run_id, "--by", "meter")
    published_unasked = shell.call("publish", run_id, "--confirm")
    shell.call("approve", run_id, "--as", "team-lead", "--confirm")
    return Life(
        shell=shell,
        run_id=run_id,
        computed=computed,
        compared=compared,
        published_unasked=published_unasked,
        published=shell.call("publish", run_id, "--confirm", "--json"),
    )


def test_a_run_that_needs_consent_is_computed_and_then_waits(life):
    found = json.loads(life.computed.stdout)
    assert (life.computed.returncode, found["run"]["state"]) == (3, "AWAITING_PUBLISH")
    assert (found["staged"], found["published"]) == (3, 0)


def test_what_would_change_is_counted_before_anybody_sees_it(life):
    (by_meter,) = life.compared["found"]["dimensions"]
    counted = [(one["value"], one["added"], one["unchanged"]) for one in by_meter["values"]]
    assert counted == [("a", 3, 0), ("b", 3, 0)]


def test_that_it_was_compared_is_kept_with_the_run(life):
    found = life.shell.document("status", life.run_id)
    assert (found["compared"], found["publish_scope"]) == (3, "DUAL_READ")
    records = life.shell.home / "evidence" / life.run_id / "records.jsonl"
    kept = [json.loads(line) for line in records.read_text().splitlines()]
    (compared,) = [one["body"] for one in kept if one["kind"] == "comparison"]
    assert compared["summary_digest"] == life.compared["digest"]
    assert compared["summary"]["found"] == life.compared["found"]


def test_what_was_found_is_shown_again_and_again(life):
    shown = life.shell.document("compare", life.run_id, "--show")
    assert shown == life.compared


def test_it_is_not_published_before_somebody_has_agreed(life):
    assert life.published_unasked.returncode == 3
    assert life.published_unasked.stderr.startswith("approval-missing: ")


def test_it_is_published_once_everybody_has_agreed(life):
    found = json.loads(life.published.stdout)
    assert (life.published.returncode, found["run"]["state"]) == (0, "PUBLISHED")


def test_the_table_holds_what_was_accepted(life):
    answer = life.shell.call("validate", life.run_id)
    assert answer.returncode == 0
    assert "3 partitions with 6 rows are seen from this run" in answer.stdout


def test_the_partition_is_owed_to_the_run(life):
    (found,) = life.shell.document("history", BRONZE, "--day", "2025-01-02")
    assert (found["run_id"], found["row_count"]) == (life.run_id, 2)


def test_nothing_was_changed_behind_the_platforms_back(life):
    (found,) = life.shell.document("verify", life.run_id)
    assert found["problems"] == []
    assert found["notes"] == ["approved by team-lead as team-lead, not signed"]


def test_running_or_publishing_it_again_changes_nothing(life):
    before = life.shell.document("status", life.run_id)
    again = [life.shell.call(verb, life.run_id, "--confirm").returncode for verb in VERBS]
    assert (again, life.shell.document("status", life.run_id)) == ([0, 0], before)
