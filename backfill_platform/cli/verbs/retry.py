"""Verb `retry`: takes up a failed run where it failed; what is staged already costs nothing."""

from backfill_platform.cli.carrying_out import carry_out, refuse_without_approval
from backfill_platform.cli.confirming import Choice, may_act, read_choice
from backfill_platform.cli.opening import find_run, open_ledger
from backfill_platform.cli.options import Confirm, DryRun, Json, Run
from backfill_platform.cli.verbs.run import show_before
from backfill_platform.domain.clock import utc_now
from backfill_platform.engine.carry_out.controlling import refuse_retrying
from backfill_platform.engine.look.status import read_status


def retry(
    run: Run, dry_run: DryRun = False, confirm: Confirm = False, as_json: Json = False
) -> None:
    """Take up a failed run from its failed chunk, and publish it as `run` does."""
    choice = read_choice(dry_run=dry_run, confirm=confirm)
    ledger = open_ledger()
    record = find_run(ledger, run)
    refuse_retrying(record)
    found = read_status(ledger, record.run_id, utc_now())
    if choice is not Choice.ACT:
        show_before(found, choice, as_json=as_json)
    if choice is not Choice.SHOW:
        refuse_without_approval(found)
    if may_act(choice, f"Run what is left of {found.run.run_id}?"):
        carry_out(found, ledger, as_json=as_json)
