"""Verb `reproduce`: computes a run again from its manifest and compares checksums. Needs Spark."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table as Grid
from rich.text import Text

from backfill_platform.cli.environment import enter_project
from backfill_platform.cli.figures import show_count, show_days, show_rows
from backfill_platform.cli.opening import find_run, open_everything
from backfill_platform.cli.options import Json, Run, os_user
from backfill_platform.cli.output import emit, make_console, show
from backfill_platform.cli.plan_options import Days
from backfill_platform.cli.plan_screen import heading, plain_table
from backfill_platform.domain.measurements import Content
from backfill_platform.domain.plain import to_plain
from backfill_platform.settings import load_settings

if TYPE_CHECKING:
    from backfill_platform.domain.reproductions import Attempt, Reproduction

EXIT_DIFFERENT = 1
_SHOWN = 20  # days that differ, of each way; a program gets all of them


def reproduce(
    run: Run,
    days: Days = None,
    chunk_days: Annotated[
        int | None, typer.Option(min=1, help="Of the second way; half as many as it had.")
    ] = None,
    partitions: Annotated[
        int | None, typer.Option(min=1, help="Of the second way: shuffle partitions.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute a run again, as it was cut and once more cut and spread otherwise, and compare."""
    settings = load_settings()
    enter_project(settings)
    # After the environment is entered: Dagster and Spark read it when they are imported.
    from backfill_platform.engine.reproduce.reproducing import refuse_irreproducible, reproduce_run

    platform = open_everything()
    run_id = find_run(platform.ledger, run).run_id
    refuse_irreproducible(platform, run_id, days)
    # Only now: Dagster and Spark take seconds.
    from backfill_platform.orchestration.local_runs import open_local_dagster

    waiting = make_console(stderr=True).status("computing again ...")
    with open_local_dagster(settings) as dagster, waiting:
        found = reproduce_run(
            dagster.platform,
            dagster.spark,
            run_id,
            by=os_user(),
            days=days,
            chunk_days=chunk_days,
            partitions=partitions,
        )
    if as_json:
        emit({"is_equal": found.is_equal, **to_plain(found)})
    else:
        show_reproduction(found)
    if not found.is_equal:
        raise typer.Exit(EXIT_DIFFERENT)


def show_reproduction(found: "Reproduction") -> None:
    measured = f"{show_count(len(found.days), 'partition')}, {show_rows(found.row_count)} rows"
    show(heading(f"{found.run_id}  {show_days(found.days)}", f"{found.table}: {measured}"))
    for attempt in found.attempts:
        show(_sentence(attempt))
        if attempt.differing:
            show(_differences(attempt))
    show("It is kept in the run's evidence that this was looked at, and what was found.")


def _sentence(attempt: "Attempt") -> Text:
    way = attempt.way
    cut = show_count(len(way.chunks), "chunk")
    spread = f", {way.shuffle_partitions} partitions" if way.shuffle_partitions else ""
    differing = len(attempt.differing)
    verdict = (
        Text(f"{show_count(differing, 'partition')} {_differ(differing)}", style="red")
        if differing
        else Text("equal, rows and checksum of every partition", style="green")
    )
    return Text.assemble((f"{way.name:<26}", "bold"), f"{cut}{spread}: ", verdict)


def _differ(number: int) -> str:
    return "differs" if number == 1 else "differ"


def _differences(attempt: "Attempt") -> Grid:
    table = plain_table()
    for name in ("day", "expected", "found"):
        table.add_column(name)
    for one in attempt.differing[:_SHOWN]:
        table.add_row(str(one.day), _content(one.expected), _content(one.found))
    if len(attempt.differing) > _SHOWN:
        table.add_row(f"and {len(attempt.differing) - _SHOWN:,} more", style="dim")
    return table


def _content(content: Content) -> str:
    """The end of a checksum tells more than its beginning."""
    return f"{content.row_count:,} rows  …{content.checksum[-16:]}"
