"""Verb `compare`: what a staged run would change, key by key, before it is seen. Needs Spark."""

from collections import defaultdict
from typing import TYPE_CHECKING, Annotated

import typer

from backfill_platform.cli.environment import enter_project
from backfill_platform.cli.opening import find_run, refuse_unknown_name
from backfill_platform.cli.options import Json, Run
from backfill_platform.cli.output import emit, make_console, show
from backfill_platform.cli.plan_screen import heading
from backfill_platform.cli.screens import change_table
from backfill_platform.domain.changes import ChangeCount
from backfill_platform.domain.errors import StagingIncomplete
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import ChunkStatus
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.plain import to_plain
from backfill_platform.settings import load_settings

if TYPE_CHECKING:
    from backfill_platform.engine.platform import Platform
    from backfill_platform.orchestration.local_runs import LocalDagster

_STAGED = frozenset({ChunkStatus.STAGED, ChunkStatus.VALIDATED, ChunkStatus.PUBLISHED})


def compare(
    run: Run,
    by: Annotated[
        str, typer.Option(metavar="COLUMN", help="The partition when nothing is said.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Count the keys that a run would add, remove and change."""
    settings = load_settings()
    enter_project(settings)
    # After the environment is entered: Dagster and Spark read it when they are imported.
    from backfill_platform.orchestration.local_runs import open_local_dagster

    with open_local_dagster(settings) as dagster:
        platform = dagster.platform
        manifest = _manifest(platform, run)
        column = by or platform.catalog.tables[manifest.target.table].partition_column
        refuse_unknown_name(
            column, platform.catalog.contracts[manifest.target.table].column_names, what="--by"
        )
        days = _staged_days(platform, manifest)
        with make_console(stderr=True).status("comparing staged with accepted rows ..."):
            changes = _compare(dagster, manifest.run_id, days, column)
    if as_json:
        emit([to_plain(change) for change in changes])
        return
    base = manifest.target.base_version
    against = "an empty table" if base is None else f"version {base}"
    show(heading(f"{manifest.run_id}  {days}", f"against {against} of {manifest.target.table}"))
    show(change_table(changes, dimension=column))


def _manifest(platform: "Platform", run: str) -> Manifest:
    from backfill_platform.engine.loading import read_manifest

    return read_manifest(find_run(platform.ledger, run))


def _staged_days(platform: "Platform", manifest: Manifest) -> PartitionSet:
    staged = platform.ledger.covered_days(manifest.run_id, _STAGED)
    if not staged:
        raise StagingIncomplete(
            f"Nothing of {manifest.run_id} is staged yet, so there is nothing to compare; next: "
            f"backfill run {manifest.run_id}"
        )
    return PartitionSet.of_days(staged)


def _compare(
    dagster: "LocalDagster", run_id: RunId, days: PartitionSet, column: str
) -> list[ChangeCount]:
    """Range by range: what lies between two ranges is not the run's."""
    from backfill_platform.engine.publish.comparing import compare_with_base

    found: defaultdict[str, list[ChangeCount]] = defaultdict(list)
    for part in days.ranges:
        changes = compare_with_base(dagster.platform, dagster.spark, run_id, part, dimension=column)
        for change in changes:
            found[change.value].append(change)
    return [_sum(value, counts) for value, counts in sorted(found.items())]


def _sum(value: str, counts: list[ChangeCount]) -> ChangeCount:
    return ChangeCount(
        value=value,
        added=sum(one.added for one in counts),
        removed=sum(one.removed for one in counts),
        changed=sum(one.changed for one in counts),
        unchanged=sum(one.unchanged for one in counts),
    )
