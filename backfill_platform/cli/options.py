"""The arguments and options that verbs of every kind share, under one name with one meaning."""

import getpass
from typing import Annotated

import typer

from backfill_platform.cli.completing import complete_runs, complete_tables

_ACT = "Show or act"

Table = Annotated[
    str, typer.Argument(metavar="TABLE", help="layer.name", autocompletion=complete_tables)
]
Run = Annotated[str, typer.Argument(metavar="RUN", help="Its id.", autocompletion=complete_runs)]
Json = Annotated[bool, typer.Option("--json", help="For programs: one document, nothing else.")]

DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show, and change nothing.", rich_help_panel=_ACT)
]
Confirm = Annotated[
    bool, typer.Option("--confirm", help="Act without being asked.", rich_help_panel=_ACT)
]


def os_user() -> str:
    return getpass.getuser()
