"""A shell completes verbs, runs and tables; what cannot be read completes to nothing."""

import pytest
from typer.testing import CliRunner

from backfill_platform.cli.completing import complete_runs, complete_tables
from backfill_platform.cli.main import app
from backfill_platform_tests.readings import BRONZE


@pytest.fixture
def complete(call, monkeypatch):
    """What bash is told for a line that ends where the cursor is."""

    def ask(*words: str) -> list[str]:
        given = {
            "_BACKFILL_COMPLETE": "complete_bash",
            "COMP_WORDS": " ".join(("backfill", *words)),
            "COMP_CWORD": str(len(words)),
        }
        answer = CliRunner().invoke(app, [], prog_name="backfill", env=given)
        return answer.stdout.split()

    return ask


def test_verbs_are_completed(complete):
    assert complete("wat") == ["watch", "watermark"]


def test_runs_are_completed_with_the_newest_first(complete, planned):
    assert complete("status", "bf-") == [planned.run_id]


def test_a_run_is_completed_with_its_state_and_reason(call, planned):
    assert complete_runs("bf-") == [(planned.run_id, "PLANNED · tests")]


def test_tables_with_runs_are_completed_from_the_ledger(call, planned):
    assert complete_tables("br") == [BRONZE]


def test_tables_that_no_run_has_changed_are_completed_from_the_declarations(complete, planned):
    assert complete("plan", "sil") == ["silver.totals"]


def test_without_a_ledger_nothing_is_completed(tmp_path, monkeypatch):
    monkeypatch.setenv("BACKFILL_HOME", str(tmp_path / "nowhere"))
    assert complete_runs("bf-") == []
