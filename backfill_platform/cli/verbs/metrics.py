"""Verb `metrics`: the platform's metrics as Prometheus reads them. Reads the ledger alone."""

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from backfill_platform.cli.opening import open_ledger
from backfill_platform.cli.output import show
from backfill_platform.domain.clock import utc_now
from backfill_platform.settings import load_settings

if TYPE_CHECKING:
    from backfill_platform.ledger.store import Ledger


def metrics(
    file: Annotated[
        Path | None,
        typer.Option(help="Write them there, for the node exporter's textfile collector."),
    ] = None,
    listen: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Serve them on this port until Ctrl-C."),
    ] = None,
) -> None:
    """Print the metrics as Prometheus reads them, write them to a file, or serve them."""
    if file and listen:
        raise typer.BadParameter("choose one of --file and --listen", param_hint="--listen")
    from backfill_platform.engine.look.exposing import read_exposition, write_exposition

    ledger = open_ledger()
    if listen:
        _serve(ledger, listen)
    elif file:
        write_exposition(ledger, utc_now, file)
    else:
        typer.echo(read_exposition(ledger, utc_now), nl=False)


def _serve(ledger: "Ledger", port: int) -> None:
    from backfill_platform.engine.look.exposing import served

    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    host = load_settings().host
    with served(ledger, utc_now, host=host, port=port):
        show(f"Metrics   http://{host}:{port}/metrics; Ctrl-C stops it.")
        stopped.wait()
