"""Verb `plan`: shows what a run would do, and records it when that is said.

What is shown and what is recorded are one value, the manifest. Between the two the world may move
while somebody reads; then what was recorded is shown again.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.text import Text

from backfill_platform.cli.confirming import Choice, may_act, read_choice
from backfill_platform.cli.intents import Wish, build_intent, read_days
from backfill_platform.cli.opening import find_declared, open_everything
from backfill_platform.cli.options import Confirm, DryRun, Json, Table, os_user
from backfill_platform.cli.output import emit, make_console, show, show_next
from backfill_platform.cli.plan_options import (
    AcceptSchemaChange,
    AsOf,
    ComputeAll,
    Days,
    End,
    Examine,
    Expected,
    Full,
    Kind,
    KnownBy,
    ManualPublish,
    MaxBytesPerMinute,
    MaxCommitsPerHour,
    MaxCost,
    MaxPartitionsAtOnce,
    MaxRows,
    MaxRowsPerMinute,
    Mode,
    OffPeak,
    PauseSeconds,
    Reason,
    References,
    Replaces,
    RequestedBy,
    Scope,
    Severities,
    Start,
    Ticket,
    Tolerances,
    Transform,
)
from backfill_platform.cli.plan_screen import plan_screen
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.limits import Limits
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import RunKind
from backfill_platform.domain.plain import to_plain
from backfill_platform.engine.look.next_step import next_step

if TYPE_CHECKING:
    from backfill_platform.domain.intents import Intent
    from backfill_platform.engine.platform import Platform


def plan(
    table: Table,
    days: Days = None,
    start: Start = None,
    end: End = None,
    full: Full = False,
    reason: Reason = "",
    ticket: Ticket = "",
    requested_by: RequestedBy = "",
    replaces: Replaces = "",
    kind: Kind = RunKind.BACKFILL,
    mode: Mode = None,
    knowledge: KnownBy = None,
    transform: Transform = "",
    reference: References = None,
    compute_all: ComputeAll = False,
    severity: Severities = None,
    tolerance: Tolerances = None,
    expect: Expected = None,
    publish_scope: Scope = None,
    as_of: AsOf = None,
    accept_schema_change: AcceptSchemaChange = None,
    manual_publish: ManualPublish = False,
    max_rows: MaxRows = None,
    max_cost_usd: MaxCost = None,
    max_rows_per_minute: MaxRowsPerMinute = None,
    max_bytes_per_minute: MaxBytesPerMinute = None,
    max_commits_per_hour: MaxCommitsPerHour = None,
    max_partitions_at_once: MaxPartitionsAtOnce = None,
    pause_seconds: PauseSeconds = 0,
    off_peak: OffPeak = None,
    examine: Examine = False,
    dry_run: DryRun = False,
    confirm: Confirm = False,
    as_json: Json = False,
) -> None:
    """Show what a run would read, change, cost and need; record it with --confirm."""
    choice = read_choice(dry_run=dry_run, confirm=confirm)
    wish = Wish(
        days=read_days(days=days, start=start, end=end, full=full),
        kind=kind,
        mode=mode,
        knowledge=knowledge,
        transform_version=transform or None,
        references=tuple(reference or ()),
        requested_by=requested_by or os_user(),
        reason=reason,
        ticket=ticket,
        limits=Limits(
            max_partitions_at_once=max_partitions_at_once,
            max_rows_per_minute=max_rows_per_minute,
            max_bytes_per_minute=max_bytes_per_minute,
            max_commits_per_hour=max_commits_per_hour,
            pause_seconds=pause_seconds,
            off_peak=off_peak,
            max_rows=max_rows,
            max_cost_usd=max_cost_usd,
        ),
        requires_manual_publish=manual_publish,
        publish_scope=publish_scope,
        as_of=as_of,
        accepted_schema_changes=frozenset(accept_schema_change or ()),
        severities=tuple(severity or ()),
        tolerances=tuple(tolerance or ()),
        expected_changes=tuple(expect or ()),
        computes_all=compute_all,
        replaces=RunId(replaces) if replaces else None,
    )
    platform = open_everything()
    spec = find_declared(platform, table)
    intent = build_intent(platform, spec, wish)
    if examine:
        from backfill_platform.cli.examining import examine as look_at_plan

        look_at_plan(intent)
    _plan(platform, intent, choice, as_json=as_json)


def _plan(platform: "Platform", intent: "Intent", choice: Choice, *, as_json: bool) -> None:
    from backfill_platform.engine.plan.planning import draft_manifest, plan_run

    drafted = None if choice is Choice.ACT else draft_manifest(platform, intent)
    if drafted is not None:
        _show_draft(drafted, choice, as_json=as_json)
    if not may_act(choice, f"Record it as {drafted.run_id}?" if drafted else ""):
        return
    recorded = plan_run(platform, intent)
    state = platform.ledger.run(recorded.run_id).state
    if as_json:
        emit(_document(recorded, state))
        return
    if drafted is None or not _is_alike(drafted, recorded):
        show(plan_screen(recorded, state=state))
    show(Text.assemble("\nRecorded: ", (recorded.run_id, "bold"), f" is {state}."))
    show_next(next_step(state, recorded, recorded.approval.roles).commands)


def _show_draft(drafted: Manifest, choice: Choice, *, as_json: bool) -> None:
    """A program that would be asked gets its document when it is recorded, and not before."""
    if as_json and choice is Choice.SHOW:
        emit(_document(drafted, None))
        return
    console = make_console(stderr=as_json)
    console.print(plan_screen(drafted, state="would be planned"))
    if choice is Choice.SHOW:
        console.print("\nNothing is recorded; the same with --confirm records it, and then:")
        show_next(next_step(RunState.PLANNED, drafted, drafted.approval.roles).commands)


def _document(manifest: Manifest, state: RunState | None) -> dict[str, Any]:
    return {
        "recorded": state is not None,
        "state": state,
        "manifest_digest": manifest.digest,
        "manifest": to_plain(manifest),
    }


def _is_alike(drafted: Manifest, recorded: Manifest) -> bool:
    """Whether whoever has seen the draft has seen what was recorded: free disk space may differ."""
    seen = replace(
        drafted,
        run_id=recorded.run_id,
        planned_at=recorded.planned_at,
        valid_until=recorded.valid_until,
        findings=recorded.findings,
    )
    return seen == recorded
