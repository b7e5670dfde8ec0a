"""Verb `approve`: a principal's consent to exactly the manifest that is shown, signed or not.

A key may be read here, or stay where it is: `--print-request` prints what `ssh-keygen -Y sign`
signs elsewhere, and `--request` with `--signature` brings both back.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from backfill_platform.cli.confirming import Choice, may_act, read_choice
from backfill_platform.cli.deciding import (
    Key,
    Principal,
    Role,
    show_before,
    show_overrides,
    sign_with,
    tell_decision,
)
from backfill_platform.cli.opening import find_run
from backfill_platform.cli.options import Confirm, DryRun, Json, Run
from backfill_platform.domain.approvals import SIGNATURE_NAMESPACE, Approval
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.plain import from_plain
from backfill_platform.engine.consent.approving import decide, draft_approval
from backfill_platform.engine.desk import open_desk
from backfill_platform.engine.platform import Platform
from backfill_platform.settings import load_settings

_ELSEWHERE = f"Signed elsewhere, with ssh-keygen -Y sign -n {SIGNATURE_NAMESPACE}"


def _file(help_text: str) -> typer.models.OptionInfo:
    return typer.Option(
        metavar="FILE", exists=True, dir_okay=False, help=help_text, rich_help_panel=_ELSEWHERE
    )


def approve(
    run: Run,
    principal: Principal = "",
    role: Role = "",
    reason: Annotated[str, typer.Option(help="What it rests on; kept with it.")] = "",
    key: Key = None,
    print_request: Annotated[
        bool,
        typer.Option(
            "--print-request",
            help="Print what is to be signed, and record nothing.",
            rich_help_panel=_ELSEWHERE,
        ),
    ] = False,
    request: Annotated[Path | None, _file("What was printed and signed.")] = None,
    signature: Annotated[Path | None, _file("What ssh-keygen wrote beside it.")] = None,
    dry_run: DryRun = False,
    confirm: Confirm = False,
    as_json: Json = False,
) -> None:
    """Agree to a run as it is planned, in a role that the policy asks for."""
    choice = Choice.SHOW if print_request else read_choice(dry_run=dry_run, confirm=confirm)
    desk = open_desk(load_settings())
    run_id = find_run(desk.ledger, run).run_id
    if request is not None or signature is not None:
        approval = _bring_back(run_id, request, signature)
    else:
        approval = _draft(desk, run_id, principal=principal, role=role, reason=reason)
    if print_request or choice is Choice.ACT:
        show_overrides(desk, run_id)
    if print_request:
        # Without a line's end: what is signed is exactly this text.
        sys.stdout.write(approval.signed_text)
        return
    if choice is not Choice.ACT:
        show_before(desk, approval, choice, as_json=as_json)
    said = f"Agree to {run_id} as {approval.principal}, {approval.role}?"
    if may_act(choice, said):
        signed = sign_with(approval, key) if key else approval
        tell_decision(desk, decide(desk, signed), as_json=as_json)


def _draft(desk: Platform, run_id: RunId, *, principal: str, role: str, reason: str) -> Approval:
    if not principal:
        raise typer.BadParameter("say who agrees: --as PRINCIPAL", param_hint="--as")
    return draft_approval(desk, run_id, principal=principal, role=role or None, reason=reason)


def _bring_back(run_id: RunId, request: Path | None, signature: Path | None) -> Approval:
    """Exactly what was printed: any other text would not be the one that was signed."""
    if request is None or signature is None:
        raise typer.BadParameter("give both", param_hint="--request / --signature")
    text = request.read_text()
    try:
        approval = from_plain(Approval, {**json.loads(text), "signature": None})
    except (KeyError, TypeError, ValueError) as wrong:
        raise typer.BadParameter(
            f"{request} is not what --print-request printed: {wrong}", param_hint="--request"
        ) from wrong
    if approval.signed_text != text:
        raise typer.BadParameter(
            f"{request} was changed after it was printed; print and sign it again",
            param_hint="--request",
        )
    if approval.run_id != run_id:
        raise typer.BadParameter(
            f"{request} is about {approval.run_id} and not {run_id}", param_hint="--request"
        )
    return replace(approval, signature=signature.read_text())
