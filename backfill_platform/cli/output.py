"""How a verb speaks: one document for programs, or one screen for people.

A document has stable names: those of the domain's own values. A screen is as wide as the terminal,
and a hundred columns where there is none.
"""

import json
import shutil
import sys
from typing import Any

import typer
from rich.console import Console, RenderableType
from rich.text import Text

WIDEST = 140
NO_TERMINAL = (100, 40)


def make_console(*, stderr: bool = False) -> Console:
    width = min(shutil.get_terminal_size(NO_TERMINAL).columns, WIDEST)
    return Console(stderr=stderr, highlight=False, width=width)


def show(*parts: RenderableType) -> None:
    console = make_console()
    for part in parts:
        console.print(part)


def show_next(commands: tuple[str, ...]) -> None:
    """Never folded: a command is copied from the screen."""
    console = make_console()
    for number, command in enumerate(commands):
        label = "next      " if number == 0 else " " * 10
        line = Text.assemble((label, "bold"), (command, "cyan"))
        console.print(line, soft_wrap=True)


def show_copied(lines: tuple[str, ...]) -> None:
    """Never folded either."""
    console = make_console()
    for line in lines:
        console.print(Text(line, "cyan"), soft_wrap=True)


def emit(document: Any) -> None:
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False))


def emit_line(document: Any) -> None:
    """One document on one line, for whoever reads them as they come."""
    typer.echo(json.dumps(document, ensure_ascii=False))
    sys.stdout.flush()
