"""The verbs that look: a screen for people, a document for programs, honest exit codes."""

import hashlib
import json
from datetime import date

import pytest

from backfill_platform.domain.canonical import canonical_json
from backfill_platform.domain.verdicts import Gate
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.records import bundle
from backfill_platform.lakehouse.delta_tables import create_table
from backfill_platform_tests.engine.lives import S, move, publish_whole, stage, stage_whole
from backfill_platform_tests.readings import BRONZE, LANDING, week


@pytest.fixture
def published(platform, planned):
    stage_whole(platform.ledger, planned)
    publish_whole(platform.ledger, planned)
    return planned


@pytest.fixture
def failed(platform, planned):
    move(platform.ledger, planned, S.PLANNED, S.APPROVED, S.STAGING)
    stage(platform.ledger, planned, planned.target.partitions.span, failing={Gate.KEY_UNIQUE})
    move(platform.ledger, planned, S.STAGING, S.FAILED)
    return planned


def test_the_newest_run_is_listed_first(call, platform, intent, planned):
    newer = plan_run(platform, intent(BRONZE, week(date(2025, 1, 4), days=2), "plan:2"))
    found = call("list", "--json").document
    assert [run["run_id"] for run in found] == [newer.run_id, planned.run_id]


@pytest.mark.parametrize(
    ("chosen", "count"),
    [
        (("--table", BRONZE), 1),
        (("--table", "silver.totals"), 0),
        (("--state", "planned"), 1),
        (("--state", "PUBLISHED"), 0),
        (("--kind", "backfill"), 1),
        (("--kind", "repair"), 0),
    ],
)
def test_runs_are_listed_by_what_they_are(call, planned, chosen, count):
    assert len(call("list", *chosen, "--json").document) == count


def test_an_empty_list_says_what_to_type(call):
    assert "backfill plan TABLE --dry-run" in call("list").stdout


def test_the_manifest_that_is_shown_has_the_digest_beside_it(call, planned):
    shown = call("show", planned.run_id, "--json")
    manifest = canonical_json(shown.document["manifest"])
    assert hashlib.sha256(manifest.encode()).hexdigest() == shown.document["digest"]
    assert shown.stdout.strip() == canonical_json(shown.document)


def test_a_mistyped_run_is_answered_with_its_like(call, planned):
    answer = call("show", planned.run_id[:-1])
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert f"did you mean {planned.run_id}" in answer.stderr


def test_the_status_names_what_the_run_waits_for_and_the_next_command(call, planned):
    screen = call("status", planned.run_id).stdout
    assert "for somebody to run it" in screen
    assert f"next      backfill run {planned.run_id}\n" in screen


def test_the_status_document_has_no_second_manifest(call, planned):
    found = call("status", planned.run_id, "--json").document
    assert found["run"]["manifest_digest"] == planned.digest
    assert "manifest" not in found
    assert "manifest_json" not in found["run"]


def test_watching_a_run_that_is_published_ends_at_once(call, published):
    answer = call("watch", published.run_id)
    assert answer.exit_code == 0
    assert "3 of 3 partitions staged, 3 published" in answer.stdout


def test_watching_a_run_that_has_failed_ends_with_1(call, failed):
    assert call("watch", failed.run_id).exit_code == 1


def test_one_look_at_a_run_that_moves_does_not_wait(call, planned):
    answer = call("watch", planned.run_id, "--once", "--json")
    (line,) = answer.stdout.splitlines()
    assert (answer.exit_code, json.loads(line)["run"]["state"]) == (0, "PLANNED")


def test_the_history_of_a_table_says_what_each_run_did(call, platform, intent, published):
    later = plan_run(platform, intent(BRONZE, week(days=1), "later"))
    stage_whole(platform.ledger, later)
    publish_whole(platform.ledger, later, version=2)
    found = call("history", BRONZE, "--json").document
    assert [(one["run"]["run_id"], one["published"], one["seen_now"]) for one in found] == [
        (later.run_id, 1, 1),
        (published.run_id, 3, 2),
    ]


def test_the_history_of_a_day_ends_with_what_is_seen_now(call, platform, intent, published):
    later = plan_run(platform, intent(BRONZE, week(days=1), "later"))
    stage_whole(platform.ledger, later)
    publish_whole(platform.ledger, later, version=2)
    found = call("history", BRONZE, "--day", "2025-01-01", "--json").document
    assert [(one["run_id"], one["superseded_by_run_id"]) for one in found] == [
        (published.run_id, later.run_id),
        (later.run_id, None),
    ]


def test_a_table_without_runs_is_answered_with_its_like(call, published):
    answer = call("history", "bronze.reading")
    assert (answer.exit_code, "bronze.readings" in answer.stderr) == (2, True)


def test_a_failed_gate_is_shown_with_its_figures(call, failed):
    answer = call("validate", failed.run_id)
    assert answer.exit_code == 1
    assert "key_unique" in answer.stdout
    assert "25 rows repeat the key" in answer.stdout


def test_partitions_that_no_longer_hold_what_was_accepted_are_shown(call, platform, published):
    contract = platform.catalog.contracts[BRONZE]
    create_table(platform.warehouse.table_path(BRONZE), contract, partition_column="day")
    answer = call("validate", published.run_id, "--json")
    assert answer.exit_code == 1
    assert [one["held"] for one in answer.document["target"]] == ["GONE"] * 3


def test_nothing_is_wrong_with_a_run_that_is_only_planned(call, planned):
    assert call("validate", planned.run_id).exit_code == 0


def test_the_watermark_of_a_source_is_its_last_day(call):
    found = call("watermark", LANDING, "--json").document
    assert (found["last"], found["rows"], found["gaps"]) == ("2025-01-07", 14, None)


def test_the_watermark_of_a_table_names_the_run(call, published):
    found = call("watermark", BRONZE, "--json").document
    assert found["last_accepted_run"] == published.run_id


def test_untouched_runs_are_verified(call, planned):
    answer = call("verify")
    assert (answer.exit_code, answer.stdout) == (0, "Nothing was changed in 1 run.\n")


def test_tampering_is_found_among_all_runs(call, platform, planned):
    path = bundle(platform, planned.run_id).manifest_path
    path.write_text(path.read_text() + " ")
    answer = call("verify", "--json")
    (found,) = answer.document
    assert (answer.exit_code, found["run_id"]) == (1, planned.run_id)
    assert found["problems"] == ["evidence: manifest.json differs from the manifest in the ledger"]
