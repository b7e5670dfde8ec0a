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

from backfill_platform.cli.screens import change_table, manifest_table, run_table, verdict_table
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import Knowledge, ReferenceSemantics, RunKind
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.tables import TableSpec
from backfill_platform.enforcement.landing.files import land_days
from backfill_platform.engine.comparing import compare_with_base
from backfill_platform.engine.publishing import find_run
from backfill_platform.engine.reading import accepted_rows
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.local_runs import LocalDagster

REPORTED = "2.4.1"
CORRECTED = "3.1.0"
SILVER = "silver.case_sla_daily"
GOLD = "gold.sla_breaches_daily"
CALENDAR = tags.REFERENCE_PREFIX + "jurisdiction_calendar"
CALENDAR_THEN = f"calendar-v2025-01-15:{ReferenceSemantics.AS_RECORDED_THEN}"
CALENDAR_RESTATED = f"calendar-v2026-06-restated:{ReferenceSemantics.CORRECTED_TRUTH}"
DAYS_PER_CHUNK = 30


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
    restatement = _stage_restatement(story)
    _show_changes(story, restatement)
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
        CALENDAR: CALENDAR_THEN,
    }
    if story.dagster.platform.ledger.accepted(GOLD, story.loaded):
        _put_back(story)
        return
    for spec in story.tables:
        _run_chunks(story, spec, story.loaded, given)


def _put_back(story: Story) -> None:
    """A restated day is not loaded live again: history only changes by runs that say why."""
    _note(story, "The days are loaded already; the restated ones are first put back as reported.")
    launch = _next_launch(story, "as-reported")
    given = _launch_tags(launch, story.restated, "show the case study from its beginning") | {
        tags.KIND: RunKind.RESTATEMENT.value,
        tags.KNOWLEDGE: Knowledge.AS_KNOWN_THEN.value,
        tags.TRANSFORM_PREFIX + SILVER: REPORTED,
        CALENDAR: CALENDAR_THEN,
    }
    for name in (SILVER, GOLD):
        _run_chunks(story, story.table(name), story.restated, given)


def _stage_restatement(story: Story) -> Manifest:
    _title(story, f"3  {len(story.restated)} days restated with {CORRECTED}: planned and staged")
    given = (
        _launch_tags(_next_launch(story, "restatement"), story.restated, "TIMEZONE_BUG_FIX")
        | _restatement_tags()
    )
    spec = story.table(SILVER)
    with _progress(story) as progress:
        task = progress.add_task(f"staging {spec.full_name}", total=len(story.restated))
        story.dagster.stage(spec, story.restated, given)
        progress.advance(task, len(story.restated))
    manifest = find_run(story.dagster.platform, f"launch:{given[tags.LAUNCH]}:{spec.full_name}")
    story.console.print(manifest_table(manifest))
    verdicts = story.dagster.platform.ledger.verdicts(manifest.run_id, story.restated)
    story.console.print(verdict_table(verdicts))
    return manifest


def _show_changes(story: Story, manifest: Manifest) -> None:
    _title(story, "4  What would change, while consumers still see the old numbers")
    with story.console.status("comparing staged with accepted rows ..."):
        changes = compare_with_base(
            story.dagster.platform,
            story.dagster.spark,
            manifest.run_id,
            story.restated,
            dimension="jurisdiction",
        )
    story.console.print(change_table(changes, dimension="jurisdiction"))


def _publish_restatement(story: Story, manifest: Manifest) -> None:
    _title(story, "5  Published: one commit of metadata, no file is copied")
    launch = manifest.group_id.removeprefix("launch:")
    given = _launch_tags(launch, story.restated, manifest.reason) | _restatement_tags()
    story.dagster.publish(story.table(SILVER), story.restated, given)
    accepted = story.dagster.platform.ledger.accepted(SILVER, story.restated)
    by_run = [one for one in accepted.values() if one.run_id == manifest.run_id]
    versions = sorted({one.target_version for one in by_run})
    _note(
        story,
        f"{len(by_run)} of {len(story.restated)} partitions are now owed to {manifest.run_id}"
        + (f" (Delta version {versions[-1]})." if versions else "; the others did not change."),
    )


def _restate_gold(story: Story) -> None:
    _title(story, "6  The table below follows")
    given = _launch_tags(
        _next_launch(story, "downstream"), story.restated, f"{SILVER} was restated"
    ) | {tags.KIND: RunKind.RESTATEMENT.value}
    _run_chunks(story, story.table(GOLD), story.restated, given)


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


def _restatement_tags() -> dict[str, str]:
    return {
        tags.KIND: RunKind.RESTATEMENT.value,
        tags.TRANSFORM_PREFIX + SILVER: CORRECTED,
        CALENDAR: CALENDAR_RESTATED,
        tags.TICKET: "SLA-241",
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
