"""How much becomes visible at once, as it is typed and told. Runs are staged by hand."""

import pytest

from backfill_platform.domain.modes import PublishScope
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform_tests.engine.by_hand import stage_by_hand
from backfill_platform_tests.readings import BRONZE, week

DAYS = week(days=3)
PLAN = ("plan", BRONZE, "--days", str(DAYS), "--reason", "tests")


@pytest.fixture
def staged(platform, intent):
    """A run of this scope, judged; its id."""

    def make(scope: PublishScope) -> str:
        manifest = plan_run(platform, intent(BRONZE, DAYS, "run", publish_scope=scope))
        stage_by_hand(platform, manifest, dict.fromkeys(DAYS, ("a",)))
        return manifest.run_id

    return make


def test_an_ordinary_plan_says_nothing_of_how_it_becomes_visible(call):
    assert "visible" not in call(*PLAN, "--dry-run").stdout


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        ("whole-run", "all partitions in one commit, or none (WHOLE_RUN)"),
        ("dual-read", "once `backfill compare"),
        ("dark", "It holds no partition against other"),
    ],
)
def test_a_plan_says_how_it_becomes_visible(call, scope, said):
    assert said in call(*PLAN, "--publish-scope", scope, "--dry-run").stdout


def test_what_a_plan_was_asked_for_stands_in_its_manifest(call):
    answer = call(*PLAN, "--publish-scope", "whole-run", "--confirm", "--json")
    assert answer.document["manifest"]["target"]["publish_scope"] == "WHOLE_RUN"


def test_an_unknown_scope_is_a_usage_error(call):
    answer = call(*PLAN, "--publish-scope", "half", "--dry-run")
    assert answer.exit_code == 2
    assert "progressive, whole-run, dual-read, dark" in " ".join(answer.stderr.split())


def test_an_estimate_takes_the_same(call):
    asked = ("--publish-scope", "dark", "--as-of", "2025-02-01", "--accept-schema-change", "amount")
    assert call("estimate", BRONZE, "--days", str(DAYS), *asked).exit_code == 0


def test_a_status_tells_where_a_candidate_is_read(call, platform, staged):
    run_id = staged(PublishScope.DARK)
    path = platform.warehouse.staging_path(BRONZE, run_id)
    assert call("status", run_id, "--json").document["candidate"] == str(path)
    told = call("status", run_id).stdout
    assert "candidate, never published" in " ".join(told.split())
    assert f"backfill cancel {run_id}" in told


def test_a_status_tells_no_place_where_nobody_else_is_to_read(call, staged):
    document = call("status", staged(PublishScope.WHOLE_RUN), "--json").document
    assert document["candidate"] is None


def test_publishing_a_candidate_is_refused_with_the_way_on(publish, staged):
    run_id = staged(PublishScope.DARK)
    answer = publish(run_id, "--confirm")
    assert answer.exit_code == 1
    assert f"--replaces {run_id}" in answer.stderr


def test_publishing_a_part_of_a_whole_run_is_refused(publish, staged):
    run_id = staged(PublishScope.WHOLE_RUN)
    answer = publish(run_id, "--days", str(DAYS.start), "--confirm")
    assert answer.exit_code == 1
    assert "leaves out 2025-01-02..2025-01-03" in answer.stderr


def test_publishing_what_nobody_compared_waits_for_somebody(publish, staged):
    run_id = staged(PublishScope.DUAL_READ)
    answer = publish(run_id, "--confirm")
    assert answer.exit_code == 3
    assert f"backfill compare {run_id}" in answer.stderr


def test_a_dry_run_of_a_publication_tells_one_commit(publish, staged):
    answer = publish(staged(PublishScope.WHOLE_RUN), "--dry-run")
    assert "It would change 3 partitions of bronze.readings in 1 commit" in answer.stdout
