"""Verb `run`: computes and judges a planned run, and publishes it if nobody has to be asked."""

from backfill_platform.cli.carrying_out import carry_out, refuse_without_approval, tell_end
from backfill_platform.cli.confirming import Choice, may_act, read_choice
from backfill_platform.cli.opening import find_run, open_ledger
from backfill_platform.cli.options import Confirm, DryRun, Json
from backfill_platform.cli.options import Run as RunArgument
from backfill_platform.cli.output import emit, show
from backfill_platform.cli.status_screen import status_screen
from backfill_platform.cli.verbs.status import describe_status
from backfill_platform.domain.clock import utc_now
from backfill_platform.domain.errors import RunStopped
from backfill_platform.domain.lifecycle import STOPPED, TERMINAL_STATES, RunState
from backfill_platform.engine.look.status import RunStatus, read_status


def run(
    run: RunArgument,
    dry_run: DryRun = False,
    confirm: Confirm = False,
    as_json: Json = False,
) -> None:
    """Compute and judge a planned run; publish it if nobody has to be asked first."""
    choice = read_choice(dry_run=dry_run, confirm=confirm)
    ledger = open_ledger()
    found = read_status(ledger, find_run(ledger, run).run_id, utc_now())
    _refuse_to_run(found)
    if found.run.state in TERMINAL_STATES | {RunState.PUBLISHED}:
        tell_end(found, as_json=as_json)  # doing it twice equals doing it once
        return
    if choice is not Choice.ACT:
        show_before(found, choice, as_json=as_json)
    if choice is not Choice.SHOW:
        refuse_without_approval(found)
    if may_act(choice, f"Run {found.run.run_id}?"):
        carry_out(found, ledger, as_json=as_json)


def show_before(found: RunStatus, choice: Choice, *, as_json: bool) -> None:
    """What is there already, what is left to do, and what it then waits for."""
    if as_json and choice is Choice.SHOW:
        emit(describe_status(found))
    elif not as_json:
        show(status_screen(found, utc_now()), "\n" + _would(found))


def _would(found: RunStatus) -> str:
    left, manifest = found.partitions - found.staged, found.manifest
    would = f"It would compute and judge {left:,} of {found.partitions:,} partitions"
    if manifest.never_publishes:
        return f"{would}, and publish nothing."
    if found.missing_roles:
        return f"{would}, and be published when {' and '.join(found.missing_roles)} agreed."
    if manifest.safety.requires_manual_publish:
        return f"{would}, and be published by hand."
    return f"{would}, and publish them."


def _refuse_to_run(found: RunStatus) -> None:
    run_id, state = found.run.run_id, found.run.state
    if state in STOPPED:
        raise RunStopped(f"Run {run_id} is {state}: {found.cause}. Plan a new one")
    if state is RunState.FAILED:
        raise RunStopped(
            f"Run {run_id} has failed: {found.cause}. Mend it, then: backfill retry {run_id}"
        )
