"""What a Delta table holds, as values: its version, its columns and the files of each day.

One look at the log answers everything here; no data is read, except the footer of a file whose
writer kept no statistics. Where every version of the output is kept, what a day holds is its latest
version: that is what consumers see, so base, guard and history all speak of it.
"""

import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable

from backfill_platform.domain.contracts import Column
from backfill_platform.domain.modes import VersionColumn
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.publications import DataFile, fingerprint
from backfill_platform.lakehouse.delta_protocol import version_column_of

_EPOCH = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, slots=True, kw_only=True)
class TableState:
    """A table at one version, restricted to the days that were asked for."""

    version: int
    partition_column: str
    version_column: VersionColumn | None
    up_to: str | None  # where the latest output version was to be no later than this one
    columns: tuple[Column, ...]
    days: tuple[date, ...]  # those asked for, or else all that hold files
    files: Mapping[date, tuple[DataFile, ...]]  # that are seen; only days that hold some
    others: Mapping[date, tuple[DataFile, ...]]  # of versions of the output that are not seen
    configuration: Mapping[str, str]

    @property
    def fingerprints(self) -> dict[date, str]:
        """Names what each day holds; also a day that holds nothing."""
        return {
            day: fingerprint(file.path for file in self.files.get(day, ())) for day in self.days
        }

    @property
    def output_versions(self) -> dict[date, str]:
        """Which version of its output each day shows, where every version is kept."""
        return {
            day: files[0].output_version
            for day, files in self.files.items()
            if files[0].output_version is not None
        }

    def seen_of(self, paths: Mapping[str, str | None]) -> set[str]:
        """Of all files of one day, by their output versions, those that are seen."""
        if self.version_column is None:
            return set(paths)
        return _latest(self.version_column, paths, self.up_to)

    def restricted_to_held(self) -> "TableState":
        """Without the days that were asked for and hold nothing."""
        return replace(self, days=tuple(self.files))

    @property
    def row_counts(self) -> dict[date, int]:
        return {day: sum(file.row_count for file in self.files.get(day, ())) for day in self.days}

    @property
    def byte_counts(self) -> dict[date, int]:
        return {day: sum(file.size_bytes for file in self.files.get(day, ())) for day in self.days}


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRows:
    """As much of a table as whoever only counts has to know: a small part of its state."""

    version: int
    rows: Mapping[date, int]  # by day that holds some file, in the order of days


def held_rows(table: DeltaTable, path: Path) -> HeldRows:
    """The same as the state says, without a value for each file."""
    partitioned_by = table.metadata().partition_columns
    actions = add_actions(table)
    counts = actions.column("num_records")
    if version_column_of(partitioned_by) or counts.null_count:
        state = table_state(table, path, None)
        return HeldRows(version=state.version, rows=state.row_counts)
    rows: Counter[date] = Counter()
    days = actions.column(f"partition.{partitioned_by[0]}")
    for day, count in zip(days.to_pylist(), counts.to_pylist(), strict=True):
        if day is not None:
            rows[day] += count
    return HeldRows(version=table.version(), rows={day: rows[day] for day in sorted(rows)})


def table_state(
    table: DeltaTable, path: Path, days: PartitionSet | None, *, up_to: str | None = None
) -> TableState:
    """`table` must have been let in by `delta_tables.open_table`."""
    partitioned_by = table.metadata().partition_columns
    version_column = version_column_of(partitioned_by)
    held = _files_by_day(table, path, partitioned_by[0], version_column, days)
    files, others = _split(held, version_column, up_to)
    return TableState(
        version=table.version(),
        partition_column=partitioned_by[0],
        version_column=version_column,
        up_to=up_to,
        columns=table_columns(table),
        days=tuple(files) if days is None else tuple(days),
        files=files,
        others=others,
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
    table: DeltaTable,
    path: Path,
    partition_column: str,
    version_column: VersionColumn | None,
    days: PartitionSet | None,
) -> dict[date, tuple[DataFile, ...]]:
    """Arrow drops other days before the first Python object is made: a table may have years."""
    partition, output = f"partition.{partition_column}", f"partition.{version_column}"
    wanted = ["path", "size_bytes", "modification_time", "num_records", partition]
    wanted += [output] if version_column else []
    actions = add_actions(table)
    asked = _asked(actions.column(partition), days)
    held: defaultdict[date, list[DataFile]] = defaultdict(list)
    for row in actions.select(wanted).filter(asked).to_pylist():
        held[row[partition]].append(
            DataFile(
                path=row["path"],
                day=row[partition],
                size_bytes=row["size_bytes"],
                row_count=_row_count(row["num_records"], path, row["path"]),
                statistics=None,
                modified_at_ms=row["modification_time"],
                output_version=_version_text(row[output]) if version_column else None,
            )
        )
    return {day: tuple(sorted(held[day], key=lambda file: file.path)) for day in sorted(held)}


def add_actions(table: DeltaTable) -> pa.Table:
    """What the log says of each active file; statistics are null where its writer kept none."""
    return pa.RecordBatchReader.from_stream(table.get_add_actions(flatten=True)).read_all()


def _version_text(value: date | int | None) -> str | None:
    """As the partition is named."""
    return None if value is None else str(value)


def _split(
    held: Mapping[date, tuple[DataFile, ...]],
    version_column: VersionColumn | None,
    up_to: str | None,
) -> tuple[dict[date, tuple[DataFile, ...]], dict[date, tuple[DataFile, ...]]]:
    """What is seen of each day, and what is not."""
    if version_column is None:
        return dict(held), {}
    seen = {
        path
        for files in held.values()
        for path in _latest(
            version_column, {file.path: file.output_version for file in files}, up_to
        )
    }
    shown = {day: tuple(file for file in held[day] if file.path in seen) for day in held}
    others = {day: tuple(file for file in held[day] if file.path not in seen) for day in held}
    return (
        {day: files for day, files in shown.items() if files},
        {day: files for day, files in others.items() if files},
    )


def _latest(
    version_column: VersionColumn, paths: Mapping[str, str | None], up_to: str | None
) -> set[str]:
    """Of the files of one day. A file without a version is nobody's output, and never seen."""
    ranks = {path: version_column.rank(version) for path, version in paths.items() if version}
    limit = max(ranks.values(), default=0) if up_to is None else version_column.rank(up_to)
    latest = max((rank for rank in ranks.values() if rank <= limit), default=None)
    return {path for path, rank in ranks.items() if rank == latest}


def _asked(held: pa.ChunkedArray, days: PartitionSet | None) -> pa.ChunkedArray:
    """Whatever else makes an Arrow array of Python values, or filters by an expression, imports
    pandas first: half a second for every verb that looks at a table."""
    if days is None:
        return held.is_valid()
    numbers = array("i", (day.toordinal() - _EPOCH for day in days))
    wanted = pa.Array.from_buffers(pa.date32(), len(numbers), [None, pa.py_buffer(numbers)])
    return pc.call_function("is_in", [held], pc.SetLookupOptions(value_set=wanted))


def _row_count(logged: int | None, table: Path, file: str) -> int:
    """A writer may leave statistics out; the file itself always knows."""
    return pq.read_metadata(table / file).num_rows if logged is None else logged
