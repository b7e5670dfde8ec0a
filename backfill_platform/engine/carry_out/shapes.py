"""How what was landed for a chunk's days, and what was staged of them, differs from declarations.

A day is told of its own files alone: whatever else it reads around it, another day answers for.
"""

from collections.abc import Mapping
from datetime import date

from backfill_platform.domain.contracts import LINEAGE_COLUMNS
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.delta_files import table_columns
from backfill_platform.lakehouse.delta_tables import open_table, version_columns
from backfill_platform.sources.shapes import landed_problems


def shape_problems(
    platform: Platform, manifest: Manifest, days: DayRange
) -> Mapping[date, tuple[str, ...]]:
    """As sentences; days without any are not in it."""
    staged = _staged_problems(platform, manifest)
    found = {day: (*_landed_problems(platform, manifest, day), *staged) for day in days}
    return {day: problems for day, problems in found.items() if problems}


def _landed_problems(platform: Platform, manifest: Manifest, day: date) -> tuple[str, ...]:
    catalog = platform.catalog
    return tuple(
        problem
        for pinned in manifest.inputs
        if pinned.name in catalog.sources
        for problem in landed_problems(
            platform.landing, catalog.sources[pinned.name], catalog.contracts[pinned.name], day
        )
    )


def _staged_problems(platform: Platform, manifest: Manifest) -> tuple[str, ...]:
    """From the log. Nulls are counted elsewhere: a staged column takes them all."""
    target = manifest.target
    table = open_table(platform.warehouse.staging_path(target.table, manifest.run_id))
    if table is None:
        return ("the run's staging table is not there",)
    declared = (
        *platform.catalog.contracts[target.table].columns,
        *LINEAGE_COLUMNS,
        *version_columns(target.version_column),
    )
    wanted = {column.name: column.type for column in declared}
    held = {column.name: column.type for column in table_columns(table)}
    return tuple(
        _staged_problem(name, held.get(name), wanted.get(name))
        for name in sorted(wanted.keys() | held.keys())
        if wanted.get(name) != held.get(name)
    )


def _staged_problem(name: str, held: str | None, wanted: str | None) -> str:
    if held is None:
        return f"staging has no column {name!r} ({wanted})"
    if wanted is None:
        return f"staging has column {name!r} ({held}), which is not declared"
    return f"staging holds column {name!r} as {held} and not as {wanted}"
