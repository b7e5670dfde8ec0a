"""The third reader knows the protocol of version 1 and refuses what it does not know."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

from backfill_platform_tests.delta_reader import Unreadable, read_table
from backfill_platform_tests.publisher.tables import Lake, append, days, frame, make_lake, rows_of


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return make_lake(tmp_path)


def ids(lake: Lake, version: int | None = None) -> list[str]:
    return sorted(row["id"] for row in read_table(lake.target, version))


def names(run: str, count: int = 2) -> list[str]:
    return [row[1] for row in rows_of(run, days(0, count))]


def rewrite(lake: Lake, version: int, change: Callable[[dict[str, Any]], Any]) -> None:
    """Changes each action of a log entry, or takes it away."""
    entry = lake.target / "_delta_log" / f"{version:020d}.json"
    actions = [change(json.loads(line)) for line in entry.read_text().splitlines()]
    entry.write_text("\n".join(json.dumps(action) for action in actions if action))


def test_every_column_of_every_row_is_that_of_delta_rs(lake: Lake) -> None:
    append(lake.target, rows_of("one", days(0, 2)))
    append(lake.target, rows_of("two", days(1, 2)))
    expected = DeltaTable(lake.target).to_pyarrow_table().to_pylist()
    found = read_table(lake.target)
    assert sorted(found, key=str) == sorted(({**row} for row in expected), key=str)


def test_removed_files_are_not_read(lake: Lake) -> None:
    append(lake.target, rows_of("one", days(0, 2)))
    write_deltalake(lake.target, frame(rows_of("two", days(0, 2))), mode="overwrite")
    assert ids(lake) == names("two")
    assert ids(lake, version=1) == names("one")


def test_a_checkpoint_stands_for_the_entries_before_it(lake: Lake) -> None:
    append(lake.target, rows_of("one", days(0, 2)))
    write_deltalake(lake.target, frame(rows_of("two", days(0, 2))), mode="overwrite")
    DeltaTable(lake.target).create_checkpoint()
    append(lake.target, rows_of("xlate", days(0, 1)))
    for version in (0, 1, 2):
        (lake.target / "_delta_log" / f"{version:020d}.json").unlink()
    assert ids(lake) == names("two") + names("xlate", 1)


def test_a_column_that_came_later_is_null_in_older_files(lake: Lake) -> None:
    append(lake.target, rows_of("one", days(0, 1)))
    wider = frame(rows_of("two", days(0, 1))).append_column("extra", pa.array(["x", "y"]))
    write_deltalake(lake.target, wider, mode="append", schema_mode="merge")
    assert sorted(str(row["extra"]) for row in read_table(lake.target)) == [
        "None",
        "None",
        "x",
        "y",
    ]


def test_a_file_that_one_version_names_twice_is_refused(lake: Lake) -> None:
    append(lake.target, rows_of("one", days(0, 1)))
    entry = lake.target / "_delta_log" / f"{1:020d}.json"
    added = next(line for line in entry.read_text().splitlines() if '"add"' in line)
    entry.write_text(entry.read_text() + "\n" + added.replace('"add"', '"remove"', 1))
    with pytest.raises(Unreadable, match=r"names business_date=.* twice"):
        read_table(lake.target)


def test_a_table_for_newer_readers_is_refused(lake: Lake) -> None:
    newer = {"protocol": {"minReaderVersion": 3}}
    rewrite(lake, 0, lambda action: newer if "protocol" in action else action)
    with pytest.raises(Unreadable, match="needs reader 3"):
        read_table(lake.target)


def test_a_table_that_nobody_describes_is_refused(lake: Lake) -> None:
    rewrite(lake, 0, lambda action: None)
    with pytest.raises(Unreadable, match="no version says what the table looks like"):
        read_table(lake.target)


def test_deletion_vectors_are_refused(lake: Lake) -> None:
    append(lake.target, rows_of("one", days(0, 1)))
    rewrite(lake, 1, lambda action: _with(action, "deletionVector", {"storageType": "u"}))
    with pytest.raises(Unreadable, match="version 1 has deletion vectors"):
        read_table(lake.target)


def test_a_count_that_the_file_contradicts_is_refused(lake: Lake) -> None:
    append(lake.target, rows_of("one", days(0, 1)))
    rewrite(lake, 1, lambda action: _with(action, "stats", '{"numRecords":3}'))
    with pytest.raises(Unreadable, match="has 2 rows, and 3 are logged"):
        read_table(lake.target)


def test_a_missing_file_is_refused(lake: Lake) -> None:
    append(lake.target, rows_of("one", days(0, 1)))
    (file,) = lake.target.rglob("*.parquet")
    file.unlink()
    with pytest.raises(Unreadable, match="is missing"):
        read_table(lake.target)


def test_a_hole_in_the_log_is_refused(lake: Lake) -> None:
    append(lake.target, rows_of("one", days(0, 1)))
    append(lake.target, rows_of("two", days(0, 1)))
    (lake.target / "_delta_log" / f"{1:020d}.json").unlink()
    with pytest.raises(Unreadable, match="version 1 is not in the log"):
        read_table(lake.target)


def test_a_checkpoint_of_which_a_part_is_missing_is_not_used(lake: Lake) -> None:
    append(lake.target, rows_of("one", days(0, 1)))
    part = lake.target / "_delta_log" / f"{1:020d}.checkpoint.0000000001.0000000002.parquet"
    pq.write_table(pa.table({"nothing": [1]}), part)
    assert ids(lake) == names("one", 1)


def _with(action: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    return {"add": {**action["add"], name: value}} if "add" in action else action
