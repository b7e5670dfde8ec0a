"""At a terminal somebody is asked; a no changes nothing."""

import io
import sys

import pytest
import typer

from backfill_platform.cli.carrying_out import told_next
from backfill_platform.cli.confirming import Choice, may_act, read_choice
from backfill_platform.domain.errors import LaunchFailed, LaunchInterrupted
from backfill_platform.domain.identity import RunId


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch):
    def put(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", Terminal(text))

    return put


def test_somebody_at_a_terminal_is_asked(typed):
    typed("")
    assert read_choice(dry_run=False, confirm=False) is Choice.ASK


def test_a_yes_acts(typed):
    typed("y\n")
    assert may_act(Choice.ASK, "Record it?")


@pytest.mark.parametrize("answer", ["n\n", "\n"])
def test_anything_but_a_yes_ends_the_verb(typed, answer):
    typed(answer)
    with pytest.raises(typer.Abort):
        may_act(Choice.ASK, "Record it?")


def test_whoever_confirms_is_not_asked(typed):
    typed("n\n")
    assert may_act(read_choice(dry_run=False, confirm=True), "Record it?")


def test_showing_never_acts(typed):
    typed("y\n")
    assert not may_act(read_choice(dry_run=True, confirm=False), "Record it?")


def test_a_failed_launch_says_what_failed_and_where_to_look():
    expected = r"^GateFailed: 25 rows\nNext: backfill status bf-1$"
    with pytest.raises(LaunchFailed, match=expected), told_next(RunId("bf-1")):
        raise LaunchFailed("backfill_platform.domain.errors.GateFailed: 25 rows")


def test_an_interrupted_launch_stays_one_that_may_be_tried_again():
    with pytest.raises(LaunchInterrupted, match="Next: backfill status"), told_next(RunId("bf-1")):
        raise LaunchInterrupted("another writer was first")
