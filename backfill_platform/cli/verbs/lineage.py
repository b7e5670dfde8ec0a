"""Verb `lineage`: what OpenLineage is told, one event on a line; sent only where asked for."""

from typing import Annotated

import typer

from backfill_platform.cli.completing import complete_runs
from backfill_platform.cli.opening import find_run, open_everything
from backfill_platform.cli.output import show


def lineage(
    run: Annotated[
        str,
        typer.Argument(
            metavar="[RUN]", help="Else what is still untold.", autocompletion=complete_runs
        ),
    ] = "",
    send: Annotated[
        bool, typer.Option("--send", help="Tell now what is still untold, instead.")
    ] = False,
) -> None:
    """Print the OpenLineage events of a run, or those that nobody has been told yet."""
    if run and send:
        raise typer.BadParameter("what is untold is sent for all runs", param_hint="--send")
    from backfill_platform.engine.tell.lineage import due_events, run_events, tell_lineage
    from backfill_platform.telemetry.lineage_delivery import as_json, make_delivery

    platform = open_everything()
    if send:
        told = tell_lineage(platform, make_delivery(platform.lineage))
        show(f"{told} events were told to {platform.lineage.url or platform.lineage.file}.")
        return
    found = run_events(platform, find_run(platform.ledger, run).run_id) if run else None
    for event in found or due_events(platform):
        typer.echo(as_json(event))
