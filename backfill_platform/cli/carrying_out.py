"""Stages a planned run chunk by chunk and publishes it, if nobody has to be asked first.

What `run` and `retry` have in common. Through Dagster, so that it stands beside what the UI
launched; whether it may be published is asked of the engine, which asks again when it publishes.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.progress import TimeElapsedColumn as Elapsed

from backfill_platform.cli.environment import enter_project
from backfill_platform.cli.main import EXIT_WAITS
from backfill_platform.cli.output import emit, make_console, show, show_next
from backfill_platform.cli.status_screen import status_screen
from backfill_platform.cli.verbs.status import describe_status
from backfill_platform.domain.clock import utc_now
from backfill_platform.domain.errors import ApprovalMissing, LaunchFailed, LaunchInterrupted
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.look.status import RunStatus, read_status
from backfill_platform.settings import load_settings

if TYPE_CHECKING:
    from backfill_platform.engine.platform import Platform
    from backfill_platform.ledger.store import Ledger

_CLASS = re.compile(r"^[\w.]+\.(?=\w+: )")


def refuse_without_approval(status: RunStatus) -> None:
    """In a second, and not after Spark has been started."""
    if status.next_step.waits_for_somebody and not status.staged:
        raise ApprovalMissing(
            f"Run {status.run.run_id} waits for {status.next_step.waits_for}; next: "
            f"{status.next_step.commands[-1]}"
        )


def carry_out(status: RunStatus, ledger: "Ledger", *, as_json: bool) -> None:
    settings = load_settings()
    enter_project(settings)
    # After the environment is entered: Dagster and Spark read it when they are imported.
    from backfill_platform.orchestration.local_runs import open_local_dagster

    run_id = status.run.run_id
    with open_local_dagster(settings) as dagster, told_next(run_id), _progress(status) as staged:
        dagster.stage_run(run_id, on_chunk=staged)
        if _may_be_published(dagster.platform, status):
            dagster.publish_run(run_id)
    tell_end(read_status(ledger, run_id, utc_now()), as_json=as_json)


@contextmanager
def told_next(run_id: RunId) -> Iterator[None]:
    """What failed inside Dagster, without the name of its class, and where to look."""
    try:
        yield
    except (LaunchFailed, LaunchInterrupted) as failed:
        said = _CLASS.sub("", str(failed))
        raise type(failed)(f"{said}\nNext: backfill status {run_id}") from failed


def tell_end(status: RunStatus, *, as_json: bool) -> None:
    if as_json:
        emit(describe_status(status))
    else:
        show(status_screen(status, utc_now()))
        show_next(status.next_step.commands)
    if status.next_step.waits_for_somebody and not status.manifest.never_publishes:
        raise typer.Exit(EXIT_WAITS)


def _may_be_published(platform: "Platform", status: RunStatus) -> bool:
    from backfill_platform.engine.consent.consents import consent_of
    from backfill_platform.engine.consent.held import held_of

    manifest = status.manifest
    if manifest.never_publishes or manifest.safety.requires_manual_publish:
        return False
    return not consent_of(platform, manifest).missing and not held_of(platform, manifest).unreviewed


@contextmanager
def _progress(status: RunStatus) -> Iterator[Callable[[DayRange], None]]:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("partitions staged"),
        Elapsed(),
    )
    with Progress(*columns, console=make_console(stderr=True), transient=True) as progress:
        task = progress.add_task(status.run.table, total=status.partitions)
        yield lambda days: progress.advance(task, len(days))
