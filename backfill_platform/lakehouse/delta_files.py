"""What a Delta table holds, as values: its version, its columns and the files of each day.

One look at the log answers everything here; no data is read, except the footer of a file whose
writer kept no statistics.
"""

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable

from backfill_platform.domain.contracts import Column
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.publications import DataFile, fingerprint


@dataclass(frozen=True, slots=True, kw_only=True)
class TableState:
    """A table at one version, restricted to the days that were asked for."""

    version: int
    partition_column: str
    columns: tuple[Column, ...]
    days: tuple[date, ...]  # those asked for, or else all that hold files
    files: Mapping[date, tuple[DataFile, ...]]  # only days that hold files
    configuration: Mapping[str, str]

    @property
    def fingerprints(self) -> dict[date, str]:
        """Names what each day holds; also a day that holds nothing."""
        return {
            day: fingerprint(file.path for file in self.files.get(day, ())) for day in self.days
        }

    def restricted_to_held(self) -> "TableState":
        """Without the days that were asked for and hold nothing."""
        return replace(self, days=tuple(self.files))

    @property
    def row_counts(self) -> dict[date, int]:
        return {day: sum(file.row_count for file in self.files.get(day, ())) for day in self.days}

    @property
    def byte_counts(self) -> dict[date, int]:
        return {day: sum(file.size_bytes for file in self.files.get(day, ())) for day in self.days}


def table_state(table: DeltaTable, path: Path, days: PartitionSet | None) -> TableState:
    """`table` must have been let in by `delta_tables.open_table`."""
    partition_column = table.metadata().partition_columns[0]
    files = _files_by_day(table, path, partition_column, days)
    return TableState(
        version=table.version(),
        partition_column=partition_column,
        columns=table_columns(table),
        days=tuple(sorted(files)) if days is None else tuple(days),
        files=files,
        configuration=dict(table.metadata().configuration),
    )


def table_columns(table: DeltaTable) -> tuple[Column, ...]:
    return tuple(
        Column(name=field["name"], type=_type_name(field["type"]), is_nullable=field["nullable"])
        for field in json.loads(table.schema().to_json())["fields"]
    )


def _type_name(declared: object) -> str:
    """A simple type is its name; a nested one is its canonical JSON."""
    return declared if isinstance(declared, str) else json.dumps(declared, sort_keys=True)


def _files_by_day(
    table: DeltaTable, path: Path, partition_column: str, days: PartitionSet | None
) -> dict[date, tuple[DataFile, ...]]:
    """Arrow drops other days before the first Python object is made: a table may have years."""
    partition = f"partition.{partition_column}"
    wanted = ["path", "size_bytes", "modification_time", "num_records", partition]
    actions = pa.table(table.get_add_actions(flatten=True)).select(wanted)
    day = pc.field(partition)
    asked = day.is_valid() if days is None else day.isin(list(days))
    held: defaultdict[date, list[DataFile]] = defaultdict(list)
    for row in actions.filter(asked).to_pylist():
        held[row[partition]].append(
            DataFile(
                path=row["path"],
                day=row[partition],
                size_bytes=row["size_bytes"],
                row_count=_row_count(row["num_records"], path / row["path"]),
                statistics=None,
                modified_at_ms=row["modification_time"],
            )
        )
    return {day: tuple(sorted(held[day], key=lambda file: file.path)) for day in sorted(held)}


def _row_count(logged: int | None, file: Path) -> int:
    """A writer may leave statistics out; the file itself always knows."""
    return pq.read_metadata(file).num_rows if logged is None else logged
