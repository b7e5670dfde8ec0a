"""The command `backfill`. A verb is a module of this folder with a function of the same name, one
word, and stands in `PANELS`.

A module is imported only when its verb is called, or when help is asked for, and imports what it
needs when it runs: `backfill list` pays for nothing that `backfill run` needs. Here alone errors
become one line and an exit code; what a verb does belongs in its own file, and what it decides in
the engine.
"""

import gc
import importlib
import importlib.util
import sys
from typing import Any

import typer
import typer.core

from backfill_platform.cli import verbs
from backfill_platform.domain.errors import ApprovalMissing, BackfillError, Retryable

# A start makes many objects and drops few: looking for garbage every 700 takes a sixth of it.
gc.set_threshold(50_000)

EXIT_REFUSED = 1
EXIT_WAITS = 3
EXIT_TRY_AGAIN = 75  # EX_TEMPFAIL of sysexits.h

EXIT_CODES = (
    "Exit codes: 0 done; 1 refused, something has to be changed first; 2 wrong usage; "
    "3 waits for somebody's approval or publication; 75 the same call may succeed later."
)

# In the order of a backfill's life.
PANELS = {
    "Plan": ("estimate", "plan"),
    "Agree": ("approve", "review", "reject"),
    "Carry out": ("run", "watch", "retry", "cancel", "compare", "publish", "rollback", "recover"),
    "Look": (
        *("list", "status", "show", "validate", "reproduce", "history", "watermark", "gaps"),
        *("verify", "alerts", "metrics", "lineage"),
    ),
    "Keep": ("retire",),
    "This machine": ("setup", "doctor", "up", "demo", "landing"),
}
_PANEL_OF = {verb: panel for panel, verbs in PANELS.items() for verb in verbs}


class Verbs(typer.core.TyperGroup):
    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = dict.fromkeys(self.list_commands(None))  # a mistyped verb is told its like

    def list_commands(self, ctx: Any) -> list[str]:
        return [verb for verb in _PANEL_OF if importlib.util.find_spec(_module(verb))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands:
            return None
        function = getattr(importlib.import_module(_module(cmd_name)), cmd_name)
        verb = typer.Typer(add_completion=False)
        verb.command(
            cmd_name,
            rich_help_panel=_PANEL_OF[cmd_name],
            epilog=EXIT_CODES,
            no_args_is_help=False,
        )(function)
        return typer.main.get_command(verb)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BackfillError as refusal:
            print(f"{refusal.code}: {refusal}", file=sys.stderr)  # noqa: T201
            raise typer.Exit(exit_code(refusal)) from None


def exit_code(refusal: BackfillError) -> int:
    if isinstance(refusal, ApprovalMissing):
        return EXIT_WAITS
    return EXIT_TRY_AGAIN if isinstance(refusal, Retryable) else EXIT_REFUSED


app = typer.Typer(
    cls=Verbs,
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
)


@app.callback()
def backfill() -> None:
    """Backfills, restatements and rollbacks that can be proved.

    Whatever changes something is shown with --dry-run, and done with --confirm; at a terminal it is
    shown and asked for.
    """


def _module(verb: str) -> str:
    return f"{verbs.__name__}.{verb}"
