"""Verb `rollback`: returns what a run published to what was there before. No JVM, no file copied.

Planned, agreed to and carried out by one and the same call: whoever calls it again goes on with the
rollback that is on its way, and one that is done stays done.
"""

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from backfill_platform.cli.confirming import Choice, may_act, read_choice
from backfill_platform.cli.figures import show_count, show_days, show_instant
from backfill_platform.cli.main import EXIT_WAITS
from backfill_platform.cli.opening import find_run, open_everything
from backfill_platform.cli.options import Confirm, DryRun, Json, Run, os_user
from backfill_platform.cli.output import emit, make_console, show, show_next
from backfill_platform.cli.plan_options import Reason, RequestedBy, Ticket, parse_scope
from backfill_platform.cli.plan_screen import plan_screen
from backfill_platform.cli.telling_dagster import tell_dagster, warn_if_untold
from backfill_platform.domain.errors import ApprovalMissing
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.plain import to_plain
from backfill_platform.planner.rollback_facts import RollbackRequest

if TYPE_CHECKING:
    from backfill_platform.engine.platform import Platform
    from backfill_platform.engine.rollback.rolling_back import RolledBack

Days = Annotated[
    PartitionSet | None,
    typer.Option(
        parser=parse_scope,
        metavar="DAYS",
        help='All that the run changed when nothing is said. "2025-01-01..2025-01-31, 2025-03-01".',
    ),
]


def rollback(
    run: Run,
    days: Days = None,
    reason: Reason = "",
    ticket: Ticket = "",
    requested_by: RequestedBy = "",
    dry_run: DryRun = False,
    confirm: Confirm = False,
    as_json: Json = False,
) -> None:
    """Return what a run published to what was there before.

    It is a run itself, and waits for whoever the policy asks. When they have agreed, call the same
    again: it goes on with the rollback that is planned.
    """
    choice = read_choice(dry_run=dry_run, confirm=confirm)
    platform = open_everything()
    request = RollbackRequest(
        run_id=find_run(platform.ledger, run).run_id,
        days=days,
        reason=reason,
        requested_by=requested_by or os_user(),
        ticket=ticket,
    )
    if choice is not Choice.ACT:
        _show_before(platform, request, choice, as_json=as_json)
    if may_act(choice, f"Roll back {request.run_id}?"):
        _act(platform, request, as_json=as_json)


def _show_before(
    platform: "Platform", request: RollbackRequest, choice: Choice, *, as_json: bool
) -> None:
    from backfill_platform.engine.rollback.planning import draft_rollback, find_rollback

    known = find_rollback(platform, request)
    manifest = known or draft_rollback(platform, request)
    state = platform.ledger.run(known.run_id).state if known else None
    if as_json and choice is Choice.SHOW:
        emit(_document(manifest, state))
        return
    console = make_console(stderr=as_json)
    console.print(plan_screen(manifest, state=state or "would be planned", chunks=1))
    console.print(f"\nIt takes back what {request.run_id} published.")
    if choice is Choice.SHOW and known is None:
        console.print("Nothing is recorded; the same with --confirm records it.")


def _act(platform: "Platform", request: RollbackRequest, *, as_json: bool) -> None:
    from backfill_platform.engine.rollback.planning import plan_rollback
    from backfill_platform.engine.rollback.rolling_back import roll_back

    manifest = plan_rollback(platform, request)
    try:
        done = roll_back(platform, manifest.run_id)
    except ApprovalMissing as waiting:
        _tell_waiting(platform, manifest, request, str(waiting), as_json=as_json)
        raise typer.Exit(EXIT_WAITS) from None
    _tell_done(platform, done, as_json=as_json)


def _tell_waiting(
    platform: "Platform", manifest: Manifest, request: RollbackRequest, why: str, *, as_json: bool
) -> None:
    state = platform.ledger.run(manifest.run_id).state
    if as_json:
        emit({**_document(manifest, state), "waits_for": why})
        return
    show(Text.assemble("Recorded: ", (manifest.run_id, "bold"), f" is {state}.\n{why}"))
    show_next((f"backfill show {manifest.run_id}", *_approvals(manifest), _again(request)))


def _approvals(manifest: Manifest) -> tuple[str, ...]:
    signed = " --key FILE" if manifest.approval.signed else ""
    return tuple(
        f"backfill approve {manifest.run_id} --as NAME --role {role}{signed}"
        for role in dict.fromkeys(manifest.approval.roles)
    )


def _again(request: RollbackRequest) -> str:
    days = f' --days "{request.days}"' if request.days else ""
    return f"backfill rollback {request.run_id}{days} --confirm"


def _tell_done(platform: "Platform", done: "RolledBack", *, as_json: bool) -> None:
    """Said before Dagster hears of it, which takes longer than the rollback."""
    manifest = done.manifest
    if not as_json:
        show(_sentence(platform, done))
    told = tell_dagster(platform, {manifest.target.table: manifest.target.partitions})
    if as_json:
        emit({**_document_of(platform, done), "dagster": told.catalog})
    elif told.partitions:
        show(Text(str(told), style="dim"))
    warn_if_untold(told, manifest.run_id)
    if not as_json:
        show_next((f"backfill history {manifest.target.table}",))


def _sentence(platform: "Platform", done: "RolledBack") -> Text:
    from backfill_platform.engine.rollback.undoing import undoable_until

    manifest, undone = done.manifest, done.undone
    days = manifest.target.partitions
    until = undoable_until(platform, manifest.target.table, done.version)
    return Text.assemble(
        "Rolled back by ",
        (manifest.run_id, "bold"),
        f", in version {done.version}: {show_count(len(days), 'partition')} "
        f"({show_days(days)}) of {manifest.target.table} hold again what they held before "
        f"{undone.run_id}, which is {undone.state}. The rollback can itself be rolled back until "
        f"{show_instant(until)}.",
    )


def _document_of(platform: "Platform", done: "RolledBack") -> dict[str, Any]:
    return {
        **_document(done.manifest, platform.ledger.run(done.manifest.run_id).state),
        "undone": {"run_id": done.undone.run_id, "state": done.undone.state},
        "delta_version": done.version,
        "accepted": to_plain(done.accepted),
    }


def _document(manifest: Manifest, state: str | None) -> dict[str, Any]:
    return {
        "recorded": state is not None,
        "state": state,
        "manifest_digest": manifest.digest,
        "manifest": to_plain(manifest),
    }
