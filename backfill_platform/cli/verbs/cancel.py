"""Verb `cancel`: stops a run that has not begun to publish; what is at work on it gives up."""

from typing import Annotated

import typer
from rich.text import Text

from backfill_platform.cli.confirming import Choice, may_act, read_choice
from backfill_platform.cli.opening import find_run, open_ledger
from backfill_platform.cli.options import Confirm, DryRun, Json, Run, os_user
from backfill_platform.cli.output import emit, show
from backfill_platform.cli.status_screen import status_screen
from backfill_platform.cli.verbs.list import describe_run
from backfill_platform.domain.clock import utc_now
from backfill_platform.domain.runs import RunRecord
from backfill_platform.engine.carry_out.controlling import cancel_run, refuse_cancelling
from backfill_platform.engine.look.status import read_status
from backfill_platform.settings import load_settings


def cancel(
    run: Run,
    reason: Annotated[str, typer.Option(help="Why; whoever planned it will ask.")],
    by: Annotated[str, typer.Option(metavar="NAME", help="The OS user when nothing is said.")] = "",
    dry_run: DryRun = False,
    confirm: Confirm = False,
    as_json: Json = False,
) -> None:
    """Stop a run that is not published; its partitions are free again."""
    choice = read_choice(dry_run=dry_run, confirm=confirm)
    ledger, now = open_ledger(), utc_now()
    record = find_run(ledger, run)
    refuse_cancelling(record)
    if choice is not Choice.ACT and not as_json:
        show(status_screen(read_status(ledger, record.run_id, now), now))
    if not may_act(choice, f"Cancel {record.run_id}?"):
        _tell(record, "would be cancelled", as_json=as_json)
        return
    cancelled = cancel_run(
        ledger,
        load_settings().evidence,
        record.run_id,
        actor=by or os_user(),
        reason=reason,
        now=now,
    )
    _tell(cancelled, "is cancelled", as_json=as_json)


def _tell(record: RunRecord, what: str, *, as_json: bool) -> None:
    if as_json:
        emit(describe_run(record))
    else:
        show(Text(f"Run {record.run_id} {what}."))
