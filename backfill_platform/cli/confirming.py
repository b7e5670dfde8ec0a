"""The habit of every verb that changes something: show first, act when it has been said.

`--dry-run` shows and changes nothing, `--confirm` acts; at a terminal somebody can be asked, and a
script has to say one of the two. It is looked at before anything slow begins.
"""

import sys
from enum import Enum, auto

import typer

_HINT = "--dry-run / --confirm"


class Choice(Enum):
    SHOW = auto()
    ACT = auto()
    ASK = auto()


def read_choice(*, dry_run: bool, confirm: bool) -> Choice:
    refuse_both(dry_run=dry_run, confirm=confirm)
    if dry_run:
        return Choice.SHOW
    if confirm:
        return Choice.ACT
    if not sys.stdin.isatty():
        raise typer.BadParameter(
            "nobody can be asked here; give one of the two: --dry-run shows, --confirm acts",
            param_hint=_HINT,
        )
    return Choice.ASK


def refuse_both(*, dry_run: bool, confirm: bool) -> None:
    if dry_run and confirm:
        raise typer.BadParameter("give one of the two, not both", param_hint=_HINT)


def may_act(choice: Choice, question: str) -> bool:
    """Asks where asking was left open; a no ends the verb."""
    if choice is Choice.ASK:
        typer.confirm(question, abort=True, err=True)
    return choice is not Choice.SHOW
