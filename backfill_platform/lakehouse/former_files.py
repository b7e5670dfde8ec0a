"""What a table held on some days at an older version, with each file's statistics word for word.

Delta keeps the files that a commit replaced until VACUUM removes them, and the older versions until
the log is cleaned up. Nothing here says whether the files are still there. The statistics are read
as any reader of Delta does: from the newest checkpoint up to the version, and the entries after it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path

import pyarrow.parquet as pq
from deltalake import DeltaTable

from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.publications import DataFile
from backfill_platform.lakehouse.delta_files import TableState, table_state
from backfill_platform.lakehouse.delta_tables import LIBRARY_ERRORS

VERSION_DIGITS = 20


def former_state(
    path: Path, version: int, days: PartitionSet | None, *, up_to: str | None = None
) -> TableState | None:
    """Of all days where none are named. Nothing when that version can no longer be read."""
    try:
        return table_state(DeltaTable(str(path), version=version), path, days, up_to=up_to)
    except LIBRARY_ERRORS:
        return None


def former_files(
    path: Path, versions: Mapping[date, int], *, up_to: str | None = None
) -> tuple[DataFile, ...] | None:
    """The files that were seen of each day at its version of the table; nothing when one of the
    versions cannot be read. `up_to` leaves later versions of the output out of account."""
    found: list[DataFile] = []
    for version in sorted(set(versions.values())):
        days = PartitionSet.of_days(day for day, at in versions.items() if at == version)
        state = former_state(path, version, days, up_to=up_to)
        if state is None:
            return None
        logged = _statistics(path, version)
        files = (file for held in state.files.values() for file in held)
        found.extend(
            replace(file, statistics=logged.get(file.path) or _count_alone(file)) for file in files
        )
    return tuple(sorted(found, key=lambda file: file.path))


def _statistics(path: Path, version: int) -> dict[str, str]:
    log = path / "_delta_log"
    checkpoint = max((at for at in _checkpoints(log) if at <= version), default=None)
    known: dict[str, str] = {}
    if checkpoint is not None:
        for part in log.glob(f"{_name(checkpoint)}.checkpoint*.parquet"):
            known.update(_checkpointed(part))
    for later in range(0 if checkpoint is None else checkpoint + 1, version + 1):
        known.update(_added(log / f"{_name(later)}.json"))
    return known


def _checkpoints(log: Path) -> Iterator[int]:
    for found in log.glob("*.checkpoint*.parquet"):
        number = found.name.partition(".")[0]
        if number.isdecimal():
            yield int(number)


def _checkpointed(part: Path) -> Iterator[tuple[str, str]]:
    wanted = pq.ParquetFile(part).read(columns=["add.path", "add.stats"])
    for row in wanted.column("add").to_pylist():
        if row and row.get("stats"):
            yield row["path"], row["stats"]


def _added(entry: Path) -> Iterator[tuple[str, str]]:
    """An entry from before the oldest checkpoint may be gone."""
    if not entry.exists():
        return
    for line in entry.read_text(encoding="utf-8").splitlines():
        add = json.loads(line).get("add") if '"add"' in line else None
        if add and add.get("stats"):
            yield add["path"], add["stats"]


def _name(version: int) -> str:
    return f"{version:0{VERSION_DIGITS}d}"


def _count_alone(file: DataFile) -> str:
    """Where a writer kept no statistics the count stays right, only data skipping is lost."""
    return json.dumps({"numRecords": file.row_count})
