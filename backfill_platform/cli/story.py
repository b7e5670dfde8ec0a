"""The case study as a sequence of launches through Dagster, with what each of them did.

It only launches, reads and shows. What it shows comes from the ledger and the tables, never from
what it expects to have happened.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.progress import TimeElapsedColumn as Elapsed
from rich.table import Table

from backfill_platform.cli.diff_screen import diff_screen
from backfill_platform.cli.plan_screen import plan_screen
from backfill_platform.cli.screens import run_table
from backfill_platform.cli.status_screen import gate_table
from backfill_platform.domain.approvals import Decision
from backfill_platform.domain.errors import LaunchFailed
from backfill_platform.domain.intents import Intent, ReferenceChoice
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import (
    ExecutionMode,
    Knowledge,
    ReferenceSemantics,
    RunKind,
)
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.tables import TableSpec
from backfill_platform.enforcement.landing.files import land_days
from backfill_platform.engine.consent.approving import decide, draft_approval
from backfill_platform.engine.consent.consents import consent_of
from backfill_platform.engine.consent.held import held_of, review_terms
from backfill_platform.engine.consent.reviewing import draft_review, review_run
from backfill_platform.engine.look.reading import accepted_rows
from backfill_platform.engine.look.status import count_verdicts
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.publish.comparing import compare_run
from backfill_platform.engine.publish.sampled_rows import largest_rows
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.local_runs import LocalDagster

REPORTED = "2.4.1"
CORRECTED = "3.1.0"
SILVER = "silver.case_sla_daily"
GOLD = "gold.sla_breaches_daily"
CALENDAR_NAME = "jurisdiction_calendar"
CALENDAR_AS_RECORDED = ReferenceChoice(
    version="calendar-v2025-01-15", semantics=ReferenceSemantics.AS_RECORDED_THEN
)
CALENDAR_AS_CORRECTED = ReferenceChoice(
    version="calendar-v2026-06-restated", semantics=ReferenceSemantics.CORRECTED_TRUTH
)
DAYS_PER_CHUNK = 30
ROWS_SHOWN = 5  # of those that move the most


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    dagster: LocalDagster
    console: Console
    loaded: DayRange
    restated: DayRange

    @property
    def tables(self) -> tuple[TableSpec, ...]:
        return tuple(self.dagster.platform.catalog.tables.values())

    def table(self, name: str) -> TableSpec:
        return self.dagster.platform.catalog.tables[name]


def tell(story: Story, *, events_per_day: int, seed: int) -> None:
    _land(story, events_per_day=events_per_day, seed=seed)
    _load_live(story)
    before = _breaches(story)
    restatement = _plan_restatement(story)
    _stage_restatement(story, restatement)
    _publish_restatement(story, restatement)
    _restate_gold(story)
    _show_before_and_after(story, before, restatement)
    story.console.print(run_table(story.dagster.platform.ledger.runs(limit=8)))
    story.console.print(
        "\n`make up` shows all of it in Dagster; run `make demo` again at any time."
    )


def _land(story: Story, *, events_per_day: int, seed: int) -> None:
    _title(story, f"1  {len(story.loaded)} days of case events arrive ({events_per_day:,} a day)")
    with _progress(story) as progress:
        task = progress.add_task("landing.case_events", total=len(story.loaded))
        land_days(
            story.dagster.platform.landing,
            story.loaded,
            seed=seed,
            events_per_day=events_per_day,
            on_day=lambda *_: progress.advance(task),
        )


def _load_live(story: Story) -> None:
    _title(story, f"2  Loaded live, day by day as known then, with transform {REPORTED}")
    launch = _next_launch(story, "load")
    given = _launch_tags(launch, story.loaded, "the daily reports") | {
        tags.KIND: RunKind.LIVE.value,
        tags.TRANSFORM_PREFIX + SILVER: REPORTED,
        tags.REFERENCE_PREFIX + CALENDAR_NAME: (
            f"{CALENDAR_AS_RECORDED.version}:{CALENDAR_AS_RECORDED.semantics}"
        ),
    }
    if story.dagster.platform.ledger.accepted(GOLD, story.loaded):
        _put_back(story)
        return
    for spec in story.tables:
        _run_chunks(story, spec, story.loaded, given)


def _put_back(story: Story) -> None:
    """A restated day is not loaded live again: history only changes by runs that say why."""
    _note(story, "The days are loaded already; the restated ones are first put back as reported.")
    reason = "show the case study from its beginning"
    for name in (SILVER, GOLD):
        intent = _restatement(story, name, reason, Knowledge.AS_KNOWN_THEN, REPORTED)
        manifest = plan_run(story.dagster.platform, intent)
        _approve(story, manifest)
        _carry_out(story, manifest)


def _plan_restatement(story: Story) -> Manifest:
    _title(story, f"3  {len(story.restated)} days are to be restated with {CORRECTED}: the plan")
    intent = _restatement(
        story, SILVER, "TIMEZONE_BUG_FIX", Knowledge.UP_TO_SNAPSHOT, CORRECTED, ticket="SLA-241"
    )
    manifest = plan_run(story.dagster.platform, intent)
    story.console.print(plan_screen(manifest))
    return manifest


def _stage_restatement(story: Story, manifest: Manifest) -> None:
    _title(story, "4  Computed into staging and judged; consumers still see the old numbers")
    _stage(story, manifest)
    verdicts = story.dagster.platform.ledger.verdicts(manifest.run_id, story.restated)
    story.console.print(gate_table(count_verdicts(verdicts)))
    with story.console.status("comparing staged with accepted rows ..."):
        kept = compare_run(
            story.dagster.platform, story.dagster.spark, manifest.run_id, by=("jurisdiction",)
        )
    largest = largest_rows(story.dagster.platform, kept, ROWS_SHOWN)
    story.console.print(diff_screen(kept, largest))


def _publish_restatement(story: Story, manifest: Manifest) -> None:
    _title(story, "5  Nobody has agreed yet, so nothing is published")
    try:
        story.dagster.publish_run(manifest.run_id)
    except LaunchFailed as refused:
        _note(story, f"[italic]{refused}[/]")
    _approve(story, manifest)
    _review(story, manifest)
    _title(story, "6  Published: one commit of metadata, no file is copied")
    story.dagster.publish_run(manifest.run_id)
    accepted = story.dagster.platform.ledger.accepted(SILVER, story.restated)
    by_run = [one for one in accepted.values() if one.run_id == manifest.run_id]
    versions = sorted({one.target_version for one in by_run})
    _note(
        story,
        f"{len(by_run)} of {len(story.restated)} partitions are now owed to {manifest.run_id}"
        + (f" (Delta version {versions[-1]})." if versions else "; the others did not change."),
    )


def _restate_gold(story: Story) -> None:
    _title(story, "7  The table below follows, as the plan said")
    intent = _restatement(
        story, GOLD, f"{SILVER} was restated", Knowledge.UP_TO_SNAPSHOT, None, ticket="SLA-241"
    )
    manifest = plan_run(story.dagster.platform, intent)
    _approve(story, manifest)
    _carry_out(story, manifest)


def _restatement(
    story: Story,
    table: str,
    reason: str,
    knowledge: Knowledge,
    version: str | None,
    *,
    ticket: str = "",
) -> Intent:
    """Of the restated days; the calendar follows from what the days are to tell."""
    launch = _next_launch(story, f"{table}-{reason}")
    is_then = knowledge is Knowledge.AS_KNOWN_THEN
    uses_calendar = any(use.name == CALENDAR_NAME for use in story.table(table).references)
    calendar = CALENDAR_AS_RECORDED if is_then else CALENDAR_AS_CORRECTED
    return Intent(
        table=table,
        days=PartitionSet.of_range(story.restated),
        kind=RunKind.RESTATEMENT,
        mode=ExecutionMode.BACKFILL,
        knowledge=knowledge,
        reason=reason,
        requested_by="demo",
        origin=f"launch:{launch}",
        group_id=f"launch:{launch}",
        ticket=ticket,
        transform_version=version if table == SILVER else None,
        references={CALENDAR_NAME: calendar} if uses_calendar else {},
    )


def _approve(story: Story, manifest: Manifest) -> None:
    """In the story each role agrees at once; every other time somebody looks at the diff first."""
    platform = story.dagster.platform
    for role in consent_of(platform, manifest).missing:
        principal = platform.policy.holders(role)[0]
        approval = draft_approval(
            platform, manifest.run_id, principal=principal, role=role, reason="agreed in the story"
        )
        decide(platform, approval)
        _note(story, f"{principal} approves {manifest.run_id} (manifest {manifest.digest[:16]}).")


def _carry_out(story: Story, manifest: Manifest) -> None:
    _stage(story, manifest)
    _review(story, manifest)
    story.dagster.publish_run(manifest.run_id)


def _review(story: Story, manifest: Manifest) -> None:
    """Figures that moved further than the table expects are looked at by an owner of it."""
    platform = story.dagster.platform
    if not held_of(platform, manifest).unreviewed:
        return
    holders = (
        name
        for role in review_terms(platform, manifest).roles
        for name in platform.policy.holders(role)
    )
    review = draft_review(
        platform,
        manifest.run_id,
        principal=next(holders),
        decision=Decision.APPROVED,
        reason="the story restates them",
    )
    review_run(platform, review)
    _note(story, f"{review.principal} reviews {review.held} figures that are held, and accepts.")


def _stage(story: Story, manifest: Manifest) -> None:
    with _progress(story) as progress:
        days = len(manifest.target.partitions)
        task = progress.add_task(f"staging {manifest.target.table}", total=days)
        story.dagster.stage_run(
            manifest.run_id, on_chunk=lambda chunk: progress.advance(task, len(chunk))
        )


def _show_before_and_after(story: Story, before: Mapping[str, int], manifest: Manifest) -> None:
    after = _breaches(story)
    day = story.restated.last
    table = Table(
        title=f"Breached cases on {day}, before and after", title_justify="left", show_footer=True
    )
    table.add_column("jurisdiction", footer="all")
    for name, counts in (("reported", before), ("restated", after)):
        table.add_column(name, justify="right", footer=f"{sum(counts.values()):,}")
    difference = sum(after.values()) - sum(before.values())
    table.add_column("difference", justify="right", footer=f"{difference:+,}")
    for jurisdiction in sorted({*before, *after}):
        old, new = before.get(jurisdiction, 0), after.get(jurisdiction, 0)
        table.add_row(jurisdiction, f"{old:,}", f"{new:,}", f"{new - old:+,}" if new != old else "")
    story.console.print()
    story.console.print(table)
    evidence = story.dagster.platform.evidence / manifest.run_id
    _note(story, f"Produced by {manifest.run_id}; its evidence lies in {evidence}")


def _breaches(story: Story) -> dict[str, int]:
    """Breached cases by jurisdiction on the last restated day, as consumers see them now."""
    rows = accepted_rows(
        story.dagster.platform,
        GOLD,
        PartitionSet.of_days([story.restated.last]),
        columns=("jurisdiction", "breached_cases"),
    )
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row["jurisdiction"]] += row["breached_cases"]
    return dict(counts)


def _run_chunks(story: Story, spec: TableSpec, days: DayRange, given: Mapping[str, str]) -> None:
    with _progress(story) as progress:
        task = progress.add_task(spec.full_name, total=len(days))
        for chunk in days.split(DAYS_PER_CHUNK):
            story.dagster.stage_and_publish(spec, chunk, given)
            progress.advance(task, len(chunk))


def _launch_tags(launch: str, days: DayRange, reason: str) -> dict[str, str]:
    return {
        tags.LAUNCH: launch,
        tags.DAYS: str(days),
        tags.REASON: reason,
        tags.REQUESTED_BY: "demo",
    }


def _next_launch(story: Story, what: str) -> str:
    return f"demo-{what}-{story.dagster.platform.clock():%Y%m%dT%H%M%S}"


def _progress(story: Story) -> Progress:
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description:<30}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("days"),
        Elapsed(),
        console=story.console,
    )


def _title(story: Story, text: str) -> None:
    story.console.print()
    story.console.rule(f"[bold]{text}", align="left")


def _note(story: Story, text: str) -> None:
    story.console.print(text, highlight=False)
