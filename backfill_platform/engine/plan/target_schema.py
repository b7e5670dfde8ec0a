"""A target's columns: those that are declared, those that it has, and what its old files make of
the difference. Read from the log, and from footers where a new column has a name of before.

Whether a difference may be planned is decided in `planner.schema_reasons`.
"""

import json
from collections.abc import Iterable
from datetime import date
from pathlib import Path

from backfill_platform.domain.contracts import LINEAGE_COLUMNS, Column
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.publications import DataFile
from backfill_platform.domain.schema_changes import (
    SchemaChange,
    SchemaChangeKind,
    compare_schemas,
)
from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.delta_files import TableState
from backfill_platform.lakehouse.delta_tables import read_table_state, version_columns
from backfill_platform.lakehouse.file_columns import held_types
from backfill_platform.lakehouse.former_files import former_files
from backfill_platform.planner.facts import SchemaFacts

_K = SchemaChangeKind


def declared_columns(platform: Platform, table: str) -> tuple[Column, ...]:
    """Of the target, once a run of what is deployed here has been published."""
    added = version_columns(platform.catalog.tables[table].version_column)
    return (*platform.catalog.contracts[table].columns, *LINEAGE_COLUMNS, *added)


def gather_schema(platform: Platform, intent: Intent, columns: tuple[Column, ...]) -> SchemaFacts:
    """The whole table is looked at only where something changes that binds what stays in it."""
    declared = declared_columns(platform, intent.table)
    changes = compare_schemas(columns, declared)
    path = platform.warehouse.table_path(intent.table)
    asking = [one for one in changes if one.kind is _K.ADDED or one.kind.binds_old_rows]
    whole = read_table_state(path, None) if asking else None
    if whole is None:
        return SchemaFacts(columns=columns, declared=declared)
    staying = _staying_files(whole, intent)
    return SchemaFacts(
        columns=columns,
        declared=declared,
        staying_days=_days_of(staying),
        perhaps_null=_perhaps_null(path, whole, staying, changes),
        held_types={
            change.column: held_types((path / file.path for file in staying), change.column)
            for change in changes
            if change.kind is _K.ADDED
        },
    )


def moved_columns(platform: Platform, manifest: Manifest) -> tuple[str, ...]:
    """What of the target's columns is neither as it was planned nor as the manifest makes it."""
    target = manifest.target
    state = read_table_state(platform.warehouse.table_path(target.table), target.partitions)
    declared = declared_columns(platform, target.table)
    changes = compare_schemas(state.columns, declared) if state else ()
    return tuple(
        f"column {change.column!r} of {target.table} is now {change.before or 'not there'}, and "
        f"publishing it as {change.after or 'removed'} was not planned"
        for change in changes
        if change not in target.schema_changes
    )


def _staying_files(whole: TableState, intent: Intent) -> tuple[DataFile, ...]:
    """Beside what the run publishes. Where every version of the output is kept, all of them."""
    keeps_all = whole.version_column is not None
    held = (file for files in (*whole.files.values(), *whole.others.values()) for file in files)
    return tuple(file for file in held if keeps_all or file.day not in intent.days)


def _days_of(files: Iterable[DataFile]) -> tuple[date, ...]:
    return tuple(sorted({file.day for file in files}))


def _perhaps_null(
    path: Path,
    whole: TableState,
    staying: tuple[DataFile, ...],
    changes: tuple[SchemaChange, ...],
) -> dict[str, tuple[date, ...]]:
    """A file of which nothing is counted proves nothing."""
    tightened = [change.column for change in changes if change.kind is _K.TIGHTENED]
    if not tightened:
        return {}
    logged = former_files(path, dict.fromkeys(_days_of(staying), whole.version)) or ()
    nulls = {file.path: json.loads(file.statistics or "{}").get("nullCount", {}) for file in logged}
    return {
        column: _days_of(file for file in staying if nulls.get(file.path, {}).get(column) != 0)
        for column in tightened
    }
