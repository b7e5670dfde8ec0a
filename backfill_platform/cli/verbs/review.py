"""Verb `review`: what gates hold of a run, and an owner's word on it. No JVM.

Without a word it shows, from the ledger alone. A yes lets exactly these figures be published once
everything else is there; a no ends the run.
"""

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from backfill_platform.cli.confirming import Choice, may_act, read_choice, refuse_both
from backfill_platform.cli.deciding import Key, Principal, Role, sign_with
from backfill_platform.cli.figures import show_count
from backfill_platform.cli.main import EXIT_WAITS
from backfill_platform.cli.opening import find_run, open_everything, open_ledger
from backfill_platform.cli.options import Confirm, DryRun, Json, Run
from backfill_platform.cli.output import emit, show, show_next
from backfill_platform.cli.plan_screen import heading, sections
from backfill_platform.cli.status_screen import review_line
from backfill_platform.cli.verdict_screen import causes, figure_table
from backfill_platform.domain.approvals import Decision
from backfill_platform.domain.clock import utc_now
from backfill_platform.domain.plain import to_plain
from backfill_platform.domain.reviews import Review, verdicts_of
from backfill_platform.engine.look.status import RunStatus, read_status

if TYPE_CHECKING:
    from backfill_platform.engine.consent.reviewing import Reviewed
    from backfill_platform.ledger.store import Ledger

_WORD = "The word"


def review(
    run: Run,
    accept: Annotated[
        bool,
        typer.Option("--accept", help="These figures are right.", rich_help_panel=_WORD),
    ] = False,
    reject: Annotated[
        bool, typer.Option("--reject", help="They are not; the run ends.", rich_help_panel=_WORD)
    ] = False,
    reason: Annotated[
        str, typer.Option(help="Why; kept with it, and required.", rich_help_panel=_WORD)
    ] = "",
    principal: Principal = "",
    role: Role = "",
    key: Key = None,
    dry_run: DryRun = False,
    confirm: Confirm = False,
    as_json: Json = False,
) -> None:
    """Show what gates hold of a run, and say as an owner whether it may be published."""
    from backfill_platform.engine.consent.reviewing import draft_review, review_run

    if not accept and not reject:
        refuse_both(dry_run=dry_run, confirm=confirm)
        _show(open_ledger(), run, as_json=as_json)
        return
    decision = _decision(accept=accept, reject=reject, principal=principal, reason=reason)
    choice = read_choice(dry_run=dry_run, confirm=confirm)
    platform = open_everything()
    drafted = draft_review(
        platform,
        find_run(platform.ledger, run).run_id,
        principal=principal,
        role=role or None,
        decision=decision,
        reason=reason,
    )
    if choice is not Choice.ACT:
        _show_before(platform.ledger, drafted, choice, as_json=as_json)
    if may_act(choice, f"{_said(drafted)}?"):
        said = sign_with(drafted, key) if key else drafted
        _tell(platform.ledger, review_run(platform, said), as_json=as_json)


def _decision(*, accept: bool, reject: bool, principal: str, reason: str) -> Decision:
    if accept and reject:
        raise typer.BadParameter("give one of the two, not both", param_hint="--accept / --reject")
    if not principal:
        raise typer.BadParameter("say whose word it is: --as PRINCIPAL", param_hint="--as")
    if not reason.strip():
        raise typer.BadParameter("say why; whoever reads it later will ask", param_hint="--reason")
    return Decision.APPROVED if accept else Decision.REJECTED


def _show(ledger: "Ledger", run: str, *, as_json: bool) -> None:
    found = read_status(ledger, find_run(ledger, run).run_id, utc_now())
    if as_json:
        emit(_document(ledger, found))
    else:
        _screen(ledger, found)
        show_next(found.next_step.commands if not found.held else _commands(found))
    if found.held and not found.manifest.never_publishes:
        raise typer.Exit(EXIT_WAITS)


def _screen(ledger: "Ledger", found: RunStatus) -> None:
    held = verdicts_of(ledger.held_chunks(found.run.run_id))
    show(heading(f"{found.run.run_id}  {found.run.table}", found.run.state))
    parts: list[tuple[str, Any]] = []
    if held:
        parts = [("held", figure_table(held)), ("why", causes(held))]
    if found.reviews:
        parts.append(("reviewed", Text("\n").join(review_line(one) for one in found.reviews)))
    waiting = show_count(found.held, "held verdict")
    is_waiting = f"{waiting} to review" if found.held else "nothing waits for a review"
    show(sections([*parts, ("waits", Text(is_waiting, style="bold"))]))


def _document(ledger: "Ledger", found: RunStatus) -> dict[str, Any]:
    held = ledger.held_chunks(found.run.run_id)
    return {
        "held": [to_plain(verdict) for verdict in verdicts_of(held)],
        "unreviewed": found.held,
        "reviews": [to_plain(one) for one in found.reviews],
    }


def _commands(found: RunStatus) -> tuple[str, ...]:
    run_id = found.run.run_id
    word = '--as NAME --reason "…"'
    return (
        f"backfill compare {run_id}",
        f"backfill review {run_id} --accept {word}",
        f"backfill review {run_id} --reject {word}",
    )


def _tell(ledger: "Ledger", done: "Reviewed", *, as_json: bool) -> None:
    review, again = done.review, "; it was recorded before" if done.was_known else ""
    found = read_status(ledger, review.run_id, utc_now())
    if as_json:
        emit({"review": to_plain(review), "was_known": done.was_known, "held": found.held})
        return
    is_now = f": {_said(review)}{again}. It is {found.run.state}."
    show(Text.assemble((review.run_id, "bold"), is_now))
    show_next(found.next_step.commands)


def _show_before(ledger: "Ledger", drafted: Review, choice: Choice, *, as_json: bool) -> None:
    """Nobody decides about what they have not seen."""
    if as_json and choice is Choice.SHOW:
        emit(to_plain(drafted))
    elif not as_json:
        _screen(ledger, read_status(ledger, drafted.run_id, utc_now()))
        show(Text(f"\nIt would be: {_said(drafted)}."))


def _said(review: Review) -> str:
    how = "accepted" if review.decision is Decision.APPROVED else "rejected"
    held = show_count(review.held, "held verdict")
    return f"{held} {how} by {review.principal} as {review.role}"
