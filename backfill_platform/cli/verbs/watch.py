"""Verb `watch`: a run as it goes, until it comes to rest. Looks at the ledger once a second."""

import time
from collections.abc import Iterable
from typing import Annotated, Any

import typer
from rich.live import Live

from backfill_platform.cli.main import EXIT_REFUSED, EXIT_WAITS
from backfill_platform.cli.opening import find_run, open_ledger
from backfill_platform.cli.options import Json, Run
from backfill_platform.cli.output import emit_line, make_console, show, show_next
from backfill_platform.cli.status_screen import watch_screen
from backfill_platform.cli.verbs.status import describe_status
from backfill_platform.domain.clock import utc_now
from backfill_platform.domain.lifecycle import STOPPED, RunState
from backfill_platform.domain.plain import to_plain
from backfill_platform.engine.look.speed import measure_pace
from backfill_platform.engine.look.status import RunStatus, follow_status, read_status

_LOOK_AGAIN_SECONDS = 1.0
_WAITING = {RunState.AWAITING_APPROVAL, RunState.AWAITING_PUBLISH}


def watch(
    run: Run,
    once: Annotated[bool, typer.Option("--once", help="One look, and no waiting.")] = False,
    as_json: Json = False,
) -> None:
    """Follow a run until it comes to rest: chunks, rows a second, time left.

    With --json each change is a document on a line of its own.
    """
    ledger = open_ledger()
    run_id = find_run(ledger, run).run_id

    def look() -> RunStatus:
        return read_status(ledger, run_id, utc_now())

    looks = (look(),) if once else follow_status(look, lambda: time.sleep(_LOOK_AGAIN_SECONDS))
    last = _tell(looks) if as_json else _draw(looks)
    if once:
        return
    if not as_json:
        show_next(last.next_step.commands)
    raise typer.Exit(_exit_code(last.run.state))


def _draw(looks: Iterable[RunStatus]) -> RunStatus:
    """Redrawn in place at a terminal; elsewhere the last look alone is printed."""
    console = make_console()
    last = None
    with Live(console=console, auto_refresh=False, transient=True) as live:
        for last in looks:
            live.update(_screen(last), refresh=True)
    assert last is not None, "a run is looked at once at least"
    show(_screen(last))
    return last


def _tell(looks: Iterable[RunStatus]) -> RunStatus:
    told: dict[str, Any] | None = None
    last = None
    for last in looks:
        document = describe_status(last)
        if document != told:
            told = document
            emit_line({**document, "pace": to_plain(measure_pace(last, utc_now()))})
    assert last is not None, "a run is looked at once at least"
    return last


def _screen(status: RunStatus):
    now = utc_now()
    return watch_screen(status, measure_pace(status, now), now)


def _exit_code(state: RunState) -> int:
    if state in _WAITING:
        return EXIT_WAITS
    return EXIT_REFUSED if state in STOPPED | {RunState.FAILED} else 0
