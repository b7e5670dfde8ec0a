"""The command `backfill`. A verb is a module of this folder with a function of the same name.

A module is imported only when its verb is called, or when help is asked for: `backfill doctor` pays
for nothing that `backfill demo` needs. Here alone errors become one line and an exit code; what a
verb does belongs in its own file, and what it decides in the engine.
"""

import importlib
import pkgutil
import sys
from typing import Any

import typer
import typer.core

import backfill_platform.cli as cli
from backfill_platform.domain.errors import BackfillError, Retryable

EXIT_REFUSED = 1
EXIT_TRY_AGAIN = 75  # EX_TEMPFAIL of sysexits.h


class Verbs(typer.core.TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:
        return [_verb(module) for module in _modules() if _function(module)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        module = next((name for name in _modules() if _verb(name) == cmd_name), None)
        function = _function(module) if module else None
        if function is None:
            return None
        verb = typer.Typer(add_completion=False)
        verb.command(cmd_name)(function)
        return typer.main.get_command(verb)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BackfillError as refusal:
            print(f"{refusal.code}: {refusal}", file=sys.stderr)  # noqa: T201
            raise typer.Exit(exit_code(refusal)) from None


def exit_code(refusal: BackfillError) -> int:
    return EXIT_TRY_AGAIN if isinstance(refusal, Retryable) else EXIT_REFUSED


app = typer.Typer(
    cls=Verbs,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
)


@app.callback()
def backfill() -> None:
    """Backfills, restatements and rollbacks that can be proved."""


def _modules() -> list[str]:
    return [module.name for module in pkgutil.iter_modules(cli.__path__)]


def _verb(module: str) -> str:
    return module.replace("_", "-")


def _function(module: str) -> Any:
    """The verb itself; a module without one only helps others."""
    return getattr(importlib.import_module(f"{cli.__name__}.{module}"), module, None)
