"""Verb `reject`: a principal's no to a run, with the reason; the run has ended."""

from typing import Annotated

import typer

from backfill_platform.cli.confirming import Choice, may_act, read_choice
from backfill_platform.cli.deciding import (
    Key,
    Principal,
    Role,
    show_before,
    sign_with,
    tell_decision,
)
from backfill_platform.cli.opening import find_run
from backfill_platform.cli.options import Confirm, DryRun, Json, Run
from backfill_platform.domain.approvals import Decision
from backfill_platform.engine.consent.approving import decide, draft_approval
from backfill_platform.engine.desk import open_desk
from backfill_platform.settings import load_settings


def reject(
    run: Run,
    principal: Principal,
    reason: Annotated[str, typer.Option(help="What has to change; required.")],
    role: Role = "",
    key: Key = None,
    dry_run: DryRun = False,
    confirm: Confirm = False,
    as_json: Json = False,
) -> None:
    """Say no to a run as it is planned; it ends, and its partitions are free again."""
    choice = read_choice(dry_run=dry_run, confirm=confirm)
    desk = open_desk(load_settings())
    record = find_run(desk.ledger, run)
    decision = draft_approval(
        desk,
        record.run_id,
        principal=principal,
        role=role or None,
        decision=Decision.REJECTED,
        reason=reason,
    )
    if choice is not Choice.ACT:
        show_before(desk, decision, choice, as_json=as_json)
    if may_act(choice, f"Reject {record.run_id} as {principal}, {decision.role}?"):
        signed = sign_with(decision, key) if key else decision
        tell_decision(desk, decide(desk, signed), as_json=as_json)
