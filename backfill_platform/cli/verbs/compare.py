"""Verb `compare`: what a staged run would change, key by key, before it is seen. Needs Spark."""

from typing import TYPE_CHECKING, Annotated

import typer

from backfill_platform.cli.environment import enter_project
from backfill_platform.cli.figures import show_days
from backfill_platform.cli.opening import find_run, refuse_unknown_name
from backfill_platform.cli.options import Json, Run
from backfill_platform.cli.output import emit, make_console, show
from backfill_platform.cli.plan_screen import heading
from backfill_platform.cli.screens import change_table
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.plain import to_plain
from backfill_platform.settings import load_settings

if TYPE_CHECKING:
    from backfill_platform.engine.platform import Platform


def compare(
    run: Run,
    by: Annotated[
        str, typer.Option(metavar="COLUMN", help="The partition when nothing is said.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Count the keys that a run would add, remove and change, and keep that it was looked at."""
    settings = load_settings()
    enter_project(settings)
    # After the environment is entered: Dagster and Spark read it when they are imported.
    from backfill_platform.engine.publish.comparing import compare_run
    from backfill_platform.engine.publish.comparisons import staged_chunks
    from backfill_platform.orchestration.local_runs import open_local_dagster

    with open_local_dagster(settings) as dagster:
        platform = dagster.platform
        manifest = _manifest(platform, run)
        column = by or platform.catalog.tables[manifest.target.table].partition_column
        refuse_unknown_name(
            column, platform.catalog.contracts[manifest.target.table].column_names, what="--by"
        )
        staged_chunks(platform, manifest.run_id)  # before Spark is started for nothing
        with make_console(stderr=True).status("comparing staged with accepted rows ..."):
            found = compare_run(platform, dagster.spark, manifest.run_id, dimension=column)
    if as_json:
        emit([to_plain(change) for change in found.changes])
        return
    base = manifest.target.base_version
    against = "an empty table" if base is None else f"version {base}"
    title = f"{manifest.run_id}  {show_days(found.days)}"
    show(heading(title, f"against {against} of {manifest.target.table}"))
    show(change_table(found.changes, dimension=column))
    if found.is_recorded:
        show("It is kept in the run's evidence that these days were compared.")


def _manifest(platform: "Platform", run: str) -> Manifest:
    from backfill_platform.engine.loading import read_manifest

    return read_manifest(find_run(platform.ledger, run))
