"""The command line: verbs are found by their modules, refusals become one line and an exit code."""

import pytest
from typer.testing import CliRunner

from backfill_platform.cli import main
from backfill_platform.domain.errors import EngineUnavailable, SetupIncomplete


def test_help_lists_the_verbs_and_no_other_module() -> None:
    verbs = main.Verbs(name="backfill").list_commands(None)

    assert {"setup", "doctor"} <= set(verbs)
    assert {"main", "checks", "environment"}.isdisjoint(verbs)


def test_an_unknown_verb_is_a_usage_error() -> None:
    assert CliRunner().invoke(main.app, ["fly"]).exit_code == 2


def test_a_refusal_is_one_line_and_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKFILL_CONNECT_PORT", "many")

    answer = CliRunner().invoke(main.app, ["setup"])

    assert answer.exit_code == main.EXIT_REFUSED
    assert answer.stderr.startswith("settings-invalid: The settings are not usable")


def test_what_may_succeed_later_has_an_exit_code_of_its_own() -> None:
    assert main.exit_code(EngineUnavailable("busy")) == main.EXIT_TRY_AGAIN
    assert main.exit_code(SetupIncomplete("no jars")) == main.EXIT_REFUSED
