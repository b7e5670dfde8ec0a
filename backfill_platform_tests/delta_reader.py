"""A third opinion on what a Delta table holds: the protocol's text put into code, and nothing else.

It shares no line with delta-rs, Spark or the platform: JSON entries and checkpoints are replayed
here, and Arrow reads the Parquet files. It reads what readers of version 1 may read, and refuses
everything that it does not know; a statistic that the file contradicts is a refusal too.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow.parquet as pq

Row = dict[str, Any]
Action = Mapping[str, Any]

PARTITION_TYPES = {"date": date.fromisoformat, "string": str, "integer": int}

CHECKPOINTED = ("add", "remove", "metaData", "protocol")


class Unreadable(Exception):
    """The table is broken, or uses what readers of version 1 do not know."""


@dataclass(slots=True)
class Snapshot:
    files: dict[str, Action] = field(default_factory=dict[str, Action])  # by path, as logged
    schema: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    partitioned_by: list[str] = field(default_factory=list[str])

    def apply(self, actions: list[dict[str, Action]], where: str) -> None:
        named: set[str] = set()
        for action in actions:
            for kind, said in action.items():
                if kind in ("add", "remove"):
                    _refuse(said["path"] in named, f"{where} names {said['path']} twice")
                    _refuse(said.get("deletionVector"), f"{where} has deletion vectors")
                    named.add(said["path"])
                self._take(kind, said)

    def _take(self, kind: str, said: Action) -> None:
        match kind:
            case "add":
                self.files[said["path"]] = said
            case "remove":
                self.files.pop(said["path"], None)
            case "metaData":
                self.schema = json.loads(said["schemaString"])["fields"]
                self.partitioned_by = list(said["partitionColumns"])
            case "protocol":
                _refuse(said["minReaderVersion"] != 1, f"needs reader {said['minReaderVersion']}")


def read_table(path: Path, version: int | None = None) -> list[Row]:
    snapshot = read_snapshot(path, version)
    return [row for said in snapshot.files.values() for row in _read_file(path, snapshot, said)]


def latest_of_each(rows: list[Row], day: str, version: str) -> list[Row]:
    """Where a table keeps every version of its output: of each day the rows of the newest."""
    newest = {row[day]: row[version] for row in sorted(rows, key=lambda row: row[version])}
    return [row for row in rows if row[version] == newest[row[day]]]


def read_snapshot(path: Path, version: int | None = None) -> Snapshot:
    log = path / "_delta_log"
    newest = max(_numbers(log, "*.json"), default=-1) if version is None else version
    checkpoint = max((at for at in _checkpoints(log) if at <= newest), default=-1)
    snapshot = Snapshot()
    if checkpoint >= 0:
        snapshot.apply([*_checkpointed(log, checkpoint)], f"checkpoint {checkpoint}")
    for number in range(checkpoint + 1, newest + 1):
        entry = log / f"{number:020d}.json"
        _refuse(not entry.exists(), f"version {number} is not in the log")
        lines = entry.read_text(encoding="utf-8").splitlines()
        snapshot.apply([json.loads(line) for line in lines if line.strip()], f"version {number}")
    _refuse(not snapshot.schema, "no version says what the table looks like")
    return snapshot


def _numbers(log: Path, pattern: str) -> Iterator[int]:
    names = (found.name.split(".")[0] for found in log.glob(pattern) if found.is_file())
    return (int(name) for name in names if len(name) == 20 and name.isdecimal())


def _checkpoints(log: Path) -> Iterator[int]:
    """Whole ones of the classic form, in one part or in several."""
    for number in set(_numbers(log, "*.checkpoint*.parquet")):
        parts = [found.name.split(".")[2:-1] for found in log.glob(f"{number:020d}.checkpoint*")]
        if all(part == [] or len(parts) == int(part[-1]) for part in parts):
            yield number


def _checkpointed(log: Path, number: int) -> Iterator[dict[str, Action]]:
    for part in sorted(log.glob(f"{number:020d}.checkpoint*.parquet")):
        for row in pq.ParquetFile(part).read().to_pylist():
            yield {kind: _plain(row[kind]) for kind in CHECKPOINTED if row.get(kind)}


def _plain(said: Mapping[str, Any]) -> Action:
    """Arrow reads a map as a list of pairs."""
    values = said.get("partitionValues")
    return {**said, "partitionValues": dict(values)} if isinstance(values, list) else said


def _read_file(path: Path, snapshot: Snapshot, said: Action) -> list[Row]:
    file = path / unquote(said["path"])
    _refuse(not file.exists(), f"{said['path']} is missing")
    rows = pq.ParquetFile(file).read().to_pylist()
    counted = json.loads(said.get("stats") or "{}").get("numRecords", len(rows))
    _refuse(counted != len(rows), f"{said['path']} has {len(rows)} rows, and {counted} are logged")
    return [_row(snapshot, said["partitionValues"], row) for row in rows]


def _row(snapshot: Snapshot, partition: Mapping[str, str | None], stored: Row) -> Row:
    return {
        column["name"]: _value(column["type"], partition[column["name"]])
        if column["name"] in snapshot.partitioned_by
        else stored.get(column["name"])
        for column in snapshot.schema
    }


def _value(declared: Any, text: str | None) -> Any:
    _refuse(declared not in PARTITION_TYPES, f"is partitioned by a {declared}")
    return PARTITION_TYPES[declared](text) if text else None


def _refuse(is_wrong: Any, why: str) -> None:
    if is_wrong:
        raise Unreadable(why)
