"""The metrics of a ledger, for whoever scrapes or collects them; telling them changes nothing.

They are read anew each time and no process has to live for them, so none is lost in a crash.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from prometheus_client import start_http_server

from backfill_platform.domain.errors import SettingsInvalid
from backfill_platform.lakehouse.files import write_atomically
from backfill_platform.ledger.store import Ledger
from backfill_platform.telemetry.exposition import make_registry, render

FILE_NAME = "backfill.prom"  # the node exporter's textfile collector reads *.prom

Clock = Callable[[], datetime]


def read_exposition(ledger: Ledger, clock: Clock) -> str:
    return render(ledger.figures, clock).decode()


def write_exposition(ledger: Ledger, clock: Clock, path: Path) -> None:
    """Whole or not at all: a collector never reads half of it
    (test_a_file_of_metrics_is_replaced_whole)."""
    write_atomically(path, render(ledger.figures, clock))


@contextmanager
def served(ledger: Ledger, clock: Clock, *, host: str, port: int) -> Iterator[int]:
    """Each scrape reads the ledger; the port, which the system chooses where 0 is asked for."""
    try:
        server, thread = start_http_server(
            port, addr=host, registry=make_registry(ledger.figures, clock)
        )
    except OSError as refused:
        raise SettingsInvalid(
            f"Metrics cannot be served on {host}:{port} ({refused.strerror}); stop what listens "
            "there, or name another port with --listen"
        ) from refused
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
