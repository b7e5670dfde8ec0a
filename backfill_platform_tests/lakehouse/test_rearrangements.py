"""In which files rows lay when they landed: logs are written by hand, no file is ever opened."""

import json
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from backfill_platform.lakehouse import rearrangements
from backfill_platform.lakehouse.delta_log import Commit, read_commit
from backfill_platform.lakehouse.delta_tables import read_table_state
from backfill_platform.lakehouse.rearrangements import files_when_landed

FIRST, SECOND = date(2025, 1, 1), date(2025, 1, 2)
SCHEMA = {
    "type": "struct",
    "fields": [
        {"name": name, "type": kind, "nullable": True, "metadata": {}}
        for name, kind in (("day", "date"), ("word", "string"))
    ],
}

Files = Mapping[str, date]


class Log:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.version = -1
        (path / "_delta_log").mkdir()
        metadata = {
            "id": "t",
            "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps(SCHEMA),
            "partitionColumns": ["day"],
            "configuration": {},
        }
        protocol = {"minReaderVersion": 1, "minWriterVersion": 2}
        self._write([{"protocol": protocol}, {"metaData": metadata}])

    def commit(
        self,
        added: Files,
        removed: Files | None = None,
        *,
        rows: int = 2,
        nulls: int = 0,
        changes_data: bool = True,
    ) -> int:
        statistics = json.dumps({"numRecords": rows, "nullCount": {"word": nulls}})
        adds = [
            {"add": _file(path, day, changes_data=changes_data) | {"size": 1, "stats": statistics}}
            for path, day in added.items()
        ]
        removes = [
            {"remove": _file(path, day, changes_data=changes_data)}
            for path, day in (removed or {}).items()
        ]
        return self._write([*adds, *removes])

    def compact(self, added: Files, removed: Files, **said: Any) -> int:
        return self.commit(added, removed, changes_data=False, **said)

    def entry(self, version: int) -> Path:
        return self.path / "_delta_log" / f"{version:020d}.json"

    def _write(self, actions: list[dict[str, Any]]) -> int:
        self.version += 1
        lines = [{"commitInfo": {"timestamp": 0, "operation": "WRITE"}}, *actions]
        self.entry(self.version).write_text("\n".join(json.dumps(line) for line in lines))
        return self.version

    def former(self, landed: Mapping[date, int]) -> dict[date, frozenset[str]]:
        state = read_table_state(self.path, None)
        assert state is not None
        return files_when_landed(self.path, state, landed)


def _file(path: str, day: date, *, changes_data: bool) -> dict[str, Any]:
    return {
        "path": path,
        "partitionValues": {"day": day.isoformat()},
        "dataChange": changes_data,
        "modificationTime": 0,
        "deletionTimestamp": 0,
        "extendedFileMetadata": True,
    }


def land_one_by_one(log: Log, count: int) -> dict[date, int]:
    """The version in which each day landed."""
    days = [FIRST + timedelta(days=number) for number in range(count)]
    return {day: log.commit({f"{day}": day}) for day in days}


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path)


def test_files_that_nobody_touched_are_those_that_landed(log):
    landed = log.commit({"a": FIRST, "b": FIRST})
    assert log.former({FIRST: landed}) == {FIRST: {"a", "b"}}


def test_a_compaction_is_traced_back_to_the_files_that_landed(log):
    landed = log.commit({"a": FIRST, "b": FIRST}, rows=1)
    log.compact({"c": FIRST}, {"a": FIRST, "b": FIRST}, rows=2)
    assert log.former({FIRST: landed}) == {FIRST: {"a", "b"}}


def test_each_day_is_traced_to_the_version_in_which_it_landed(log):
    first = log.commit({"a": FIRST})
    second = log.commit({"b": SECOND})
    log.compact({"c": FIRST, "d": SECOND}, {"a": FIRST, "b": SECOND})
    assert log.former({FIRST: first, SECOND: second}) == {FIRST: {"a"}, SECOND: {"b"}}


def test_a_day_in_which_a_row_was_changed_is_not_traced(log):
    first = log.commit({"a": FIRST})
    second = log.commit({"b": SECOND})
    log.commit({"c": FIRST}, {"a": FIRST})
    log.compact({"d": FIRST, "e": SECOND}, {"c": FIRST, "b": SECOND})
    assert log.former({FIRST: first, SECOND: second}) == {SECOND: {"b"}}


@pytest.mark.parametrize("broken", [{"rows": 3}, {"nulls": 1}])
def test_a_promise_that_the_figures_contradict_proves_nothing(log, broken):
    landed = log.commit({"a": FIRST})
    log.compact({"c": FIRST}, {"a": FIRST}, **broken)
    assert log.former({FIRST: landed}) == {}


def test_an_entry_that_is_gone_proves_nothing_of_what_landed_before(log):
    first = log.commit({"a": FIRST})
    gone = log.compact({"b": FIRST}, {"a": FIRST})
    second = log.commit({"c": SECOND})
    log.compact({"d": SECOND}, {"c": SECOND})
    state = read_table_state(log.path, None)
    assert state is not None
    log.entry(gone).unlink()
    former = files_when_landed(log.path, state, {FIRST: first, SECOND: second})
    assert former == {SECOND: {"c"}}


def test_a_removal_that_names_no_day_proves_nothing(log):
    landed = log.commit({"a": FIRST})
    compacted = log.compact({"c": FIRST}, {"a": FIRST})
    entry = log.entry(compacted)
    actions = [json.loads(line) for line in entry.read_text().splitlines()]
    actions[-1]["remove"].pop("partitionValues")
    entry.write_text("\n".join(json.dumps(action) for action in actions))
    assert log.former({FIRST: landed}) == {}


def test_a_day_that_landed_later_than_that_is_not_told(log):
    log.commit({"a": FIRST})
    assert log.former({FIRST: 7}) == {}


def test_every_entry_is_read_once_however_many_days_there_are(log, monkeypatch):
    days = land_one_by_one(log, 50)
    log.compact({f"c{day}": day for day in days}, {f"{day}": day for day in days})
    read: list[int] = []

    def counted(path: Path, version: int) -> Commit | None:
        read.append(version)
        return read_commit(path, version)

    monkeypatch.setattr(rearrangements, "read_commit", counted)
    assert log.former(days) == {day: {f"{day}"} for day in days}
    assert read == [*range(51, 0, -1)]
