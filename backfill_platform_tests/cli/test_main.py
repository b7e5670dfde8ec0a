"""The command line: verbs are found by their modules, refusals become one line and an exit code."""

import pkgutil

import pytest
from typer.testing import CliRunner

from backfill_platform.cli import main, verbs
from backfill_platform.domain.errors import ApprovalMissing, EngineUnavailable, SetupIncomplete


def modules() -> set[str]:
    return {module.name for module in pkgutil.iter_modules(verbs.__path__)}


def test_every_verb_has_its_place_in_the_help() -> None:
    assert set(main.Verbs(name="backfill").list_commands(None)) == modules()


def test_an_unknown_verb_is_a_usage_error_that_names_its_like() -> None:
    answer = CliRunner().invoke(main.app, ["plna"])

    assert answer.exit_code == 2
    assert "Did you mean 'plan'" in answer.stderr


def test_the_exit_codes_stand_in_the_help() -> None:
    answer = CliRunner().invoke(main.app, ["--help"], env={"COLUMNS": "200"})

    assert "3 waits for somebody" in answer.stdout


def test_a_refusal_is_one_line_and_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKFILL_CONNECT_PORT", "many")

    answer = CliRunner().invoke(main.app, ["setup"])

    assert answer.exit_code == main.EXIT_REFUSED
    assert answer.stderr.startswith("settings-invalid: The settings are not usable")


@pytest.mark.parametrize(
    ("refusal", "code"),
    [
        (EngineUnavailable("busy"), main.EXIT_TRY_AGAIN),
        (ApprovalMissing("the lead's"), main.EXIT_WAITS),
        (SetupIncomplete("no jars"), main.EXIT_REFUSED),
    ],
)
def test_what_helps_has_an_exit_code_of_its_own(refusal, code) -> None:
    assert main.exit_code(refusal) == code
