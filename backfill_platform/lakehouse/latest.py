"""The latest view of a table that keeps every version of its output: of each day, its newest.

Which files that are is decided from the partition values in the log, so no data of another version
is read. Spark users get a frame, users of delta-rs an Arrow dataset, and any other engine a view in
plain SQL. Of a table that keeps no versions the view is the table. No JVM is needed to import this.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.dataset as ds
from deltalake import DeltaTable

from backfill_platform.domain.errors import EngineUnavailable
from backfill_platform.domain.modes import VersionColumn
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.lakehouse.delta_files import TableState
from backfill_platform.lakehouse.delta_protocol import version_column_of
from backfill_platform.lakehouse.delta_tables import (
    LIBRARY_ERRORS,
    open_table,
    state_of,
    translated,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def latest_frame(
    spark: "SparkSession",
    path: Path,
    *,
    version: int | None = None,
    up_to: str | None = None,
    days: PartitionSet | None = None,
) -> "DataFrame":
    """For Spark. Always of one version of the table, also where none is named: the newest now.

    `up_to` leaves out what later versions of the output say: 2026-06-30 shows what was known then.
    Whoever filters by days anyway may name them: versions are then looked up of these alone.
    """
    table = _open(path, version)
    frame = spark.read.format("delta").option("versionAsOf", table.version()).load(str(path))
    if version_column_of(table.metadata().partition_columns) is None:
        return frame
    return frame.where(seen_condition(state_of(table, path, days, up_to=up_to)))


def latest_dataset(
    path: Path,
    *,
    version: int | None = None,
    up_to: str | None = None,
    days: PartitionSet | None = None,
) -> ds.Dataset:
    """For users of delta-rs, Polars, DuckDB and whoever else reads Arrow."""
    table = _open(path, version)
    state = state_of(table, path, days, up_to=up_to)
    seen = {file.path for files in state.files.values() for file in files}
    every = table.to_pyarrow_dataset()
    return ds.FileSystemDataset(
        [fragment for fragment in every.get_fragments() if fragment.path in seen],
        every.schema,
        every.format,
        every.filesystem,
    )


def latest_view_sql(
    relation: str, partition_column: str, version_column: VersionColumn, *, view: str | None = None
) -> str:
    """A query over the table under whatever name an engine knows it by; with a name, a view of it.

    The inner query asks for partition columns alone, which engines know without reading a row.
    """
    day, version = partition_column, version_column.value
    create = f"CREATE OR REPLACE VIEW {view} AS\n" if view else ""
    return (
        f"{create}SELECT every_version.*\n"
        f"FROM {relation} AS every_version\n"
        f"JOIN (\n"
        f"  SELECT {day} AS latest_day, max({version}) AS latest_version\n"
        f"  FROM {relation}\n"
        f"  GROUP BY {day}\n"
        f") AS latest\n"
        f"ON every_version.{day} = latest.latest_day\n"
        f"AND every_version.{version} = latest.latest_version"
    )


def seen_condition(state: TableState) -> str:
    """SQL over partition columns alone, so that Spark drops other files before it opens one; flat,
    because years of days with a version each would be too deep a tree of ORs."""
    named = f"CAST({state.partition_column} AS STRING), '/', CAST({state.version_column} AS STRING)"
    seen = [f"'{day}/{version}'" for day, version in state.output_versions.items()]
    return f"concat({named}) IN ({', '.join(seen)})" if seen else "false"


def _open(path: Path, version: int | None) -> DeltaTable:
    table = open_table(path)
    if table is None:
        raise EngineUnavailable(
            f"{path}: there is no Delta table; publish a first run of it, or check the storage"
        )
    if version is None or version == table.version():
        return table
    try:
        return DeltaTable(str(path), version=version)
    except LIBRARY_ERRORS as error:
        raise translated(error, path) from error
