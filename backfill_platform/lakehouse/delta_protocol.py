"""Decides which Delta tables are safe to publish into: reader 1, writer 2, partitioned by day.

Every engine reads and writes such a table in full, and a commit of adds and removes keeps all its
promises. A feature beyond that makes promises which the publisher does not know: over deletion
vectors even the row counts of delta-rs are wrong. So the list names what is allowed.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from deltalake import DeltaTable

from backfill_platform.domain.contracts import Column
from backfill_platform.domain.errors import UnsupportedTable
from backfill_platform.domain.modes import VersionColumn

ALLOWED_FEATURES = frozenset({"appendOnly", "invariants"})

# Before table features had names, the version alone switched them on.
LEGACY_WRITER_FEATURES = {
    3: "checkConstraints",
    4: "changeDataFeed, generatedColumns",
    5: "columnMapping",
    6: "identityColumns",
}
RAISING_TYPES = ("timestamp_ntz", "variant")


def refuse_unsupported(table: DeltaTable, path: Path) -> None:
    features = [*_features(table), *_properties(table), *_invariants(table)]
    if features:
        raise UnsupportedTable(
            f"{path}: publication does not support {', '.join(features)}; "
            "make the table again at reader version 1 and writer version 2"
        )
    _refuse_partitioning(table, path)


def refuse_unsupported_types(path: Path, columns: Iterable[Column]) -> None:
    """Such a column raises the protocol of the table that is made with it."""
    for column in columns:
        if column.type in RAISING_TYPES:
            raise UnsupportedTable(
                f"{path}: column {column.name!r} of type {column.type} would need a newer Delta "
                "protocol; declare a timestamp, or a string"
            )


def _features(table: DeltaTable) -> list[str]:
    protocol = table.protocol()
    named = {*(protocol.reader_features or ()), *(protocol.writer_features or ())}
    legacy = [
        name
        for version, name in LEGACY_WRITER_FEATURES.items()
        if version <= protocol.min_writer_version < 7
    ]
    return sorted(named - ALLOWED_FEATURES) + legacy


def _properties(table: DeltaTable) -> list[str]:
    """An append-only table may not lose the files that a publication replaces."""
    appends_only = table.metadata().configuration.get("delta.appendOnly", "false")
    return ["delta.appendOnly=true"] if appends_only.lower() == "true" else []


def _invariants(table: DeltaTable) -> list[str]:
    """Staged rows were written under the staging table's schema, so nobody tested them."""
    return [
        f"the invariant on column {field.name!r}"
        for field in table.schema().fields
        if "delta.invariants" in field.metadata
    ]


def _refuse_partitioning(table: DeltaTable, path: Path) -> None:
    columns = table.metadata().partition_columns
    types = {field.name: str(getattr(field.type, "type", "")) for field in table.schema().fields}
    kinds = [types.get(column) for column in columns]
    if kinds != ["date", *([version.type] if (version := version_column_of(columns)) else [])]:
        raise UnsupportedTable(
            f"{path}: it is partitioned by {columns or 'nothing'}; a table of the platform is "
            "partitioned by a date column, and by `as_of_date` (a date) or `output_version` (an "
            "integer) below it where every version of its output is kept"
        )


def version_column_of(partition_columns: Sequence[str]) -> VersionColumn | None:
    """The second partition column, where it tells versions of the output apart."""
    second = partition_columns[1] if len(partition_columns) > 1 else ""
    return VersionColumn(second) if second in tuple(VersionColumn) else None
