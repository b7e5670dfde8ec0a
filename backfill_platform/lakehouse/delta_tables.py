"""Opens, creates and reads Delta tables without a JVM.

Library errors end here: what leaves is a value or an error of the domain. Which tables are let in
is decided in `delta_protocol`. Reading rows is Spark's work (`lakehouse.reading`); changing a
target is the publisher's.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from deltalake import DeltaTable, Field, Schema
from deltalake.exceptions import (
    CommitFailedError,
    DeltaError,
    DeltaProtocolError,
    SchemaMismatchError,
    TableNotFoundError,
)
from deltalake.schema import PrimitiveType
from pyarrow import ArrowInvalid

from backfill_platform.domain.contracts import LINEAGE_COLUMNS, Column, Contract
from backfill_platform.domain.errors import (
    BackfillError,
    DeclarationInvalid,
    EngineUnavailable,
    LostRace,
    UnsupportedTable,
)
from backfill_platform.domain.modes import VersionColumn
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.publications import DataFile
from backfill_platform.domain.schema_changes import SchemaChange, compare_schemas
from backfill_platform.lakehouse.delta_files import (
    HeldRows,
    TableState,
    held_rows,
    table_columns,
    table_state,
)
from backfill_platform.lakehouse.delta_log import read_statistics
from backfill_platform.lakehouse.delta_protocol import refuse_unsupported, refuse_unsupported_types

LIBRARY_ERRORS = (DeltaError, OSError, ArrowInvalid)  # the last of a file that is no Parquet file

# VACUUM keeps superseded files this long, so this is how long a rollback stays possible.
DEFAULT_ROLLBACK_WINDOW = "interval 30 days"


def create_table(
    path: Path,
    contract: Contract,
    *,
    partition_column: str,
    version_column: VersionColumn | None = None,
    extra_columns: tuple[Column, ...] = LINEAGE_COLUMNS,
    rollback_window: str = DEFAULT_ROLLBACK_WINDOW,
    configuration: Mapping[str, str] | None = None,
    planned: Collection[SchemaChange] = (),
) -> None:
    """A target table. Doing it twice equals doing it once; another schema is refused, unless all
    that differs is planned: a publication changes it then, and not before."""
    columns = (*contract.columns, *extra_columns, *version_columns(version_column))
    properties = {"delta.deletedFileRetentionDuration": rollback_window, **(configuration or {})}
    partitioned_by = _partitioned_by(partition_column, version_column)
    _create(path, columns, partitioned_by, properties, planned)


def create_staging_table(
    path: Path,
    contract: Contract,
    *,
    partition_column: str,
    version_column: VersionColumn | None = None,
    extra_columns: tuple[Column, ...] = LINEAGE_COLUMNS,
) -> None:
    """The run's empty staging table, made when the run opens: two chunks that both create it
    conflict. Its columns take nulls, so that a gate can count them and show a failing row; the
    publisher lets no null into a target's column that takes none."""
    partitioned_by = _partitioned_by(partition_column, version_column)
    columns = tuple(
        replace(column, is_nullable=column.name not in partitioned_by)
        for column in (*contract.columns, *extra_columns, *version_columns(version_column))
    )
    _create(path, columns, partitioned_by, {})


def version_columns(version_column: VersionColumn | None) -> tuple[Column, ...]:
    """The column that the platform adds and fills where every version of the output is kept."""
    if version_column is None:
        return ()
    return (Column(name=version_column.value, type=version_column.type, is_nullable=False),)


def open_table(path: Path) -> DeltaTable | None:
    """The newest version, or nothing where there is no table; refuses unsafe features."""
    try:
        table = DeltaTable(str(path))
    except TableNotFoundError:
        return None
    except LIBRARY_ERRORS as error:
        raise translated(error, path) from error
    refuse_unsupported(table, path)
    return table


def read_table_state(path: Path, days: PartitionSet | None) -> TableState | None:
    """What the table holds on `days`, or on all days, from one look at its log."""
    table = open_table(path)
    return None if table is None else state_of(table, path, days)


def read_held_rows(path: Path) -> HeldRows | None:
    table = open_table(path)
    if table is None:
        return None
    try:
        return held_rows(table, path)
    except LIBRARY_ERRORS as error:
        raise translated(error, path) from error


def has_version(path: Path, version: int) -> bool:
    """Whether that version can still be read: its log may have been cleaned up."""
    try:
        DeltaTable(str(path), version=version)
    except LIBRARY_ERRORS:
        return False
    return True


def state_of(
    table: DeltaTable, path: Path, days: PartitionSet | None, *, up_to: str | None = None
) -> TableState:
    try:
        return table_state(table, path, days, up_to=up_to)
    except LIBRARY_ERRORS as error:
        raise translated(error, path) from error


def staged_files(path: Path, days: PartitionSet | None) -> tuple[DataFile, ...]:
    """The active files of a staging table, with the statistics that publication carries over."""
    state = read_table_state(path, days)
    if state is None:
        return ()
    logged = read_statistics(path)
    return tuple(
        replace(file, statistics=logged.get(file.path, _count_alone(file)))
        for files in state.files.values()
        for file in files
    )


def published_version(path: Path, publication_id: str) -> int | None:
    """The version in which a publication landed, if it did."""
    table = open_table(path)
    return None if table is None else landed_version(table, path, publication_id)


def landed_version(table: DeltaTable, path: Path, publication_id: str) -> int | None:
    """The publisher writes the table's version as the version of its app transaction, so the log
    answers in one look whether a publication landed, and where."""
    try:
        return table.transaction_version(publication_id)
    except LIBRARY_ERRORS as error:
        raise translated(error, path) from error


def delta_schema(path: Path, columns: tuple[Column, ...], former: Schema | None = None) -> Schema:
    """What others wrote beside a former column, a comment for example, stays with its name."""
    kept = {field.name: field.metadata for field in (former.fields if former else ())}
    return Schema(
        [
            Field(
                column.name,
                _delta_type(path, column),
                nullable=column.is_nullable,
                metadata=kept.get(column.name),
            )
            for column in columns
        ]
    )


def translated(error: Exception, path: Path) -> BackfillError:
    if isinstance(error, CommitFailedError):
        return LostRace(f"{path}: another commit came first; read the table and decide again")
    is_refusal = isinstance(error, DeltaProtocolError | SchemaMismatchError)
    if is_refusal or "Unsupported" in str(error):
        return UnsupportedTable(
            f"{path}: Delta refuses it: {error}; make the table again without that feature"
        )
    return EngineUnavailable(
        f"{path}: the Delta log could not be read or written: {error}; "
        "check the storage and try again"
    )


def _partitioned_by(partition_column: str, version_column: VersionColumn | None) -> list[str]:
    return [partition_column, *([version_column.value] if version_column else [])]


def _create(
    path: Path,
    columns: tuple[Column, ...],
    partitioned_by: list[str],
    properties: dict[str, str],
    planned: Collection[SchemaChange] = (),
) -> None:
    if _exists_alike(path, columns, partitioned_by, planned):
        return
    schema = delta_schema(path, columns)
    try:
        DeltaTable.create(
            str(path), schema, partition_by=partitioned_by, configuration=dict(properties)
        )
    except LIBRARY_ERRORS as error:
        # Somebody else may have created it in between; then theirs has to be alike.
        if not _exists_alike(path, columns, partitioned_by, planned):
            raise translated(error, path) from error


def _exists_alike(
    path: Path, columns: tuple[Column, ...], wanted: list[str], planned: Collection[SchemaChange]
) -> bool:
    table = open_table(path)
    if table is None:
        return False
    partitioned_by = table.metadata().partition_columns
    problems = _column_problems(table_columns(table), columns, planned)
    if partitioned_by != wanted:
        problems.append(f"it is partitioned by {partitioned_by} and not by {wanted}")
    if problems:
        raise DeclarationInvalid(
            subject=str(path),
            field="schema",
            problem=f"the table exists with another schema: {'; '.join(problems)}. "
            "Declare what it holds, or plan a run that changes it",
        )
    return True


def _column_problems(
    found: tuple[Column, ...], declared: tuple[Column, ...], planned: Collection[SchemaChange]
) -> list[str]:
    there = {column.name: column for column in found}
    wanted = {column.name: column for column in declared}
    changes = compare_schemas(found, declared)
    differing = dict.fromkeys(one.column for one in changes if one not in planned)
    return [_column_problem(name, there.get(name), wanted.get(name)) for name in differing]


def _column_problem(name: str, found: Column | None, wanted: Column | None) -> str:
    if found is None:
        return f"column {name!r} is missing"
    if wanted is None:
        return f"column {name!r} is not declared"
    return f"column {name!r} is {_shape(found)} and not {_shape(wanted)}"


def _shape(column: Column) -> str:
    return column.type if column.is_nullable else f"{column.type} not null"


def _delta_type(path: Path, column: Column) -> PrimitiveType:
    refuse_unsupported_types(path, (column,))
    try:
        return PrimitiveType(column.type)
    except ValueError as unknown:
        raise DeclarationInvalid(
            subject=str(path),
            field=column.name,
            problem=f"{column.type!r} is not a simple Delta type",
        ) from unknown


def _count_alone(file: DataFile) -> str:
    """The log entry is gone: the count stays right, only data skipping is lost."""
    return json.dumps({"numRecords": file.row_count})
