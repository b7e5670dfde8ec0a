"""Verb `list`: the newest runs and where they stand. Reads the ledger alone."""

from typing import Annotated

import typer

from backfill_platform.cli.completing import complete_tables
from backfill_platform.cli.opening import open_ledger
from backfill_platform.cli.options import Json
from backfill_platform.cli.output import emit, show
from backfill_platform.cli.screens import run_table
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.modes import RunKind
from backfill_platform.domain.plain import to_plain
from backfill_platform.domain.runs import RunRecord
from backfill_platform.engine.look.next_step import UNTIL_PUBLISHED
from backfill_platform.engine.look.status import count_unreviewed


def _states() -> str:
    return f"Only those that are {', '.join(RunState)}."


def _kinds() -> str:
    return f"Only {', '.join(RunKind)}."


def list(
    table: Annotated[
        str, typer.Option(help="Only of this table.", autocompletion=complete_tables)
    ] = "",
    state: Annotated[
        RunState | None, typer.Option(case_sensitive=False, metavar="STATE", help=_states())
    ] = None,
    kind: Annotated[
        RunKind | None, typer.Option(case_sensitive=False, metavar="KIND", help=_kinds())
    ] = None,
    limit: Annotated[int, typer.Option(min=1)] = 20,
    as_json: Json = False,
) -> None:
    """Show the newest runs and where they stand."""
    ledger = open_ledger()
    found = ledger.runs(table or None, states={state} if state else None, kind=kind, limit=limit)
    held = {
        run.run_id: count_unreviewed(ledger, run.run_id)
        for run in found
        if run.state in UNTIL_PUBLISHED
    }
    if as_json:
        emit([describe_run(run) | {"held": held.get(run.run_id, 0)} for run in found])
    elif found:
        show(run_table(found, held=held))
    else:
        show("No run is like that; `backfill plan TABLE --dry-run` shows what one would do.")


def describe_run(run: RunRecord) -> dict[str, object]:
    """A run's row without its manifest, which `show --json` gives whole."""
    document = to_plain(run)
    del document["manifest_json"]
    return document
