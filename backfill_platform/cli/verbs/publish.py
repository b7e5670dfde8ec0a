"""Verb `publish`: makes what is staged and judged visible, if everybody has agreed. No JVM."""

from typing import TYPE_CHECKING

import typer
from rich.text import Text

from backfill_platform.cli.carrying_out import tell_end, told_next
from backfill_platform.cli.confirming import Choice, may_act, read_choice
from backfill_platform.cli.environment import enter_project
from backfill_platform.cli.figures import show_count, show_days
from backfill_platform.cli.opening import find_run
from backfill_platform.cli.options import Confirm, DryRun, Json, Run
from backfill_platform.cli.output import emit, show
from backfill_platform.cli.plan_options import Days
from backfill_platform.cli.status_screen import status_screen
from backfill_platform.cli.verbs.status import describe_status
from backfill_platform.domain.clock import utc_now
from backfill_platform.domain.errors import GateFailed
from backfill_platform.domain.lifecycle import ChunkStatus, RunState
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.engine.look.status import RunStatus, read_status
from backfill_platform.settings import load_settings

if TYPE_CHECKING:
    from backfill_platform.engine.platform import Platform

_SETTLED = frozenset({ChunkStatus.VALIDATED, ChunkStatus.PUBLISHED})


def publish(
    run: Run,
    days: Days = None,
    dry_run: DryRun = False,
    confirm: Confirm = False,
    as_json: Json = False,
) -> None:
    """Make a run's validated partitions visible: all at once, or each range in one commit."""
    choice = read_choice(dry_run=dry_run, confirm=confirm)
    settings = load_settings()
    enter_project(settings)
    # After the environment is entered: Dagster reads it when it is imported.
    from backfill_platform.orchestration.local_runs import open_local_dagster

    with open_local_dagster(settings) as dagster:
        platform = dagster.platform
        run_id = find_run(platform.ledger, run).run_id
        found = read_status(platform.ledger, run_id, utc_now())
        if found.run.state is not RunState.PUBLISHED:
            wanted = _wanted(platform, found, days)
            _refuse_scope(platform, found, wanted)
            if choice is not Choice.ACT:
                _show_before(platform, found, wanted, choice, as_json=as_json)
            if choice is not Choice.SHOW:
                _refuse_unasked(platform, found, wanted)
            if not may_act(choice, f"Publish {show_count(len(wanted), 'partition')} of {run_id}?"):
                return
            with told_next(run_id):
                dagster.publish_run(run_id, wanted)
        tell_end(read_status(platform.ledger, run_id, utc_now()), as_json=as_json)


def _wanted(platform: "Platform", found: RunStatus, days: PartitionSet | None) -> PartitionSet:
    target = found.manifest.target
    if days is None:
        return target.partitions
    outside = [day for day in days if day not in target.partitions]
    if outside:
        raise typer.BadParameter(
            f"{outside[0]} is none of its partitions ({show_days(target.partitions)})",
            param_hint="--days",
        )
    return days


def _refuse_scope(platform: "Platform", found: RunStatus, wanted: PartitionSet) -> None:
    from backfill_platform.engine.carry_out.scopes import refuse_never_published, refuse_part

    refuse_never_published(platform, found.manifest)
    refuse_part(found.manifest, wanted)


def _refuse_unasked(platform: "Platform", found: RunStatus, wanted: PartitionSet) -> None:
    """Here too, because what waits for somebody has an exit code of its own."""
    from backfill_platform.domain.approvals import ConsentPoint
    from backfill_platform.engine.consent.consents import refuse_without_consent
    from backfill_platform.engine.consent.held import refuse_unreviewed
    from backfill_platform.engine.publish.comparisons import refuse_uncompared

    refuse_unreviewed(platform, found.manifest, wanted)
    refuse_without_consent(platform, found.manifest, ConsentPoint.PUBLICATION)
    refuse_uncompared(platform, found.manifest)


def _show_before(
    platform: "Platform", found: RunStatus, wanted: PartitionSet, choice: Choice, *, as_json: bool
) -> None:
    if as_json and choice is Choice.SHOW:
        emit(describe_status(found))
    elif not as_json:
        show(status_screen(found, utc_now()), Text(f"\n{_would(platform, found, wanted)}"))


def _would(platform: "Platform", found: RunStatus, wanted: PartitionSet) -> str:
    from backfill_platform.engine.publish.cutoff import unchanged_days

    settled = platform.ledger.covered_days(found.run.run_id, _SETTLED)
    unsettled = [day for day in wanted if day not in settled]
    if unsettled:
        raise GateFailed(
            f"{show_count(len(unsettled), 'partition')} of {found.run.run_id} (first "
            f"{unsettled[0]}) are not validated, so nothing is published; next: "
            f"{found.next_step.commands[-1]}"
        )
    equal = unchanged_days(platform, found.manifest, wanted)
    changed = len(wanted) - len(equal)
    is_at_once = found.manifest.target.publish_scope.is_at_once
    commits = show_count(1 if is_at_once else len(wanted.ranges), "commit")
    return (
        f"It would change {show_count(changed, 'partition')} of {found.run.table} in {commits}; "
        f"{len(equal):,} hold the same already."
    )
