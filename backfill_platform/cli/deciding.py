"""What `approve` and `reject` share: whose word, on what, and signed by which key."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from backfill_platform.cli.confirming import Choice
from backfill_platform.cli.output import emit, make_console, show, show_next
from backfill_platform.cli.plan_screen import plan_screen
from backfill_platform.domain.approvals import Approval, Decision
from backfill_platform.domain.errors import ApprovalRefused
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.plain import to_plain
from backfill_platform.engine.consent.approving import Decided
from backfill_platform.engine.consent.signing import Word, sign_word
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.look.next_step import next_step
from backfill_platform.engine.look.status import count_unreviewed
from backfill_platform.engine.platform import Platform

_WHO = "Whose word"
_SIGNED = "Signed"

Principal = Annotated[
    str,
    typer.Option(
        "--as", metavar="PRINCIPAL", help="As governance.yaml names them.", rich_help_panel=_WHO
    ),
]
Role = Annotated[
    str, typer.Option(help="Chosen by the policy when nothing is said.", rich_help_panel=_WHO)
]
Key = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="Sign with this SSH key (Ed25519); it is read and not kept.",
        rich_help_panel=_SIGNED,
    ),
]


def sign_with(word: Word, key: Path) -> Word:
    """A passphrase is asked for at a terminal, and never read from anywhere else."""
    private = key.read_bytes()
    try:
        return sign_word(word, private)
    except ApprovalRefused as refused:
        # A TypeError is how the library says that the key is encrypted.
        if not isinstance(refused.__cause__, TypeError) or not sys.stdin.isatty():
            raise
    passphrase = typer.prompt(f"Passphrase of {key}", hide_input=True, err=True)
    return sign_word(word, private, passphrase=passphrase.encode())


def show_before(desk: Platform, approval: Approval, choice: Choice, *, as_json: bool) -> None:
    """Nobody decides about what they have not seen."""
    if as_json and choice is Choice.SHOW:
        emit(to_plain(approval))
    elif not as_json:
        manifest = load_manifest(desk, approval.run_id)
        show(plan_screen(manifest, state=desk.ledger.run(approval.run_id).state))
        said = f"{approval.decision.lower()} by {approval.principal} as {approval.role}"
        show(Text(f"\nIt would be {said}."))


def show_overrides(desk: Platform, run_id: RunId) -> None:
    """On standard error, wherever somebody consents without the plan before their eyes."""
    console = make_console(stderr=True)
    for sentence in load_manifest(desk, run_id).validation.overridden:
        console.print(Text(f"! judged otherwise than its table: {sentence}"))


def tell_decision(platform: Platform, decided: Decided, *, as_json: bool) -> None:
    approval = decided.approval
    record = platform.ledger.run(approval.run_id)
    if as_json:
        emit(_document(decided, record.state))
        return
    again = "; it was recorded before" if decided.was_known else ""
    said = f"{approval.decision.lower()} by {approval.principal} as {approval.role}"
    show(Text.assemble((approval.run_id, "bold"), f" is {said}{again}. It is {record.state}."))
    if approval.decision is Decision.APPROVED:
        _tell_rest(platform, decided)


def _tell_rest(platform: Platform, decided: Decided) -> None:
    missing = decided.consent.missing
    if missing:
        show(Text(f"Still missing: {' and '.join(missing)}."))
    run_id = decided.approval.run_id
    state = platform.ledger.run(run_id).state
    held = count_unreviewed(platform.ledger, run_id)
    show_next(next_step(state, load_manifest(platform, run_id), missing, held=held).commands)


def _document(decided: Decided, state: str) -> dict[str, Any]:
    return {
        "approval": to_plain(decided.approval),
        "was_known": decided.was_known,
        "missing_roles": [*decided.consent.missing],
        "state": state,
    }
