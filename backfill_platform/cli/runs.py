"""Verb `runs`: the newest runs and where they stand."""

import json
from typing import Annotated

import typer
from rich.console import Console

from backfill_platform.cli.screens import run_table
from backfill_platform.domain.runs import RunRecord
from backfill_platform.settings import load_settings


def runs(
    table: Annotated[str, typer.Option(help="Only the runs of this table.")] = "",
    limit: Annotated[int, typer.Option(min=1)] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Show the newest runs and their states."""
    from backfill_platform.ledger.store import Ledger

    found = Ledger.open(load_settings().ledger_url).runs(table or None, limit=limit)
    if as_json:
        typer.echo(json.dumps([_plain(run) for run in found], indent=2))
    else:
        Console().print(run_table(found))


def _plain(run: RunRecord) -> dict[str, str]:
    return {
        "run_id": run.run_id,
        "group_id": run.group_id,
        "table": run.table,
        "kind": run.kind,
        "state": run.state,
        "transform_version": run.transform_version,
        "manifest_digest": run.manifest_digest,
        "planned_at": run.planned_at.isoformat(),
        "reason": run.reason,
    }
