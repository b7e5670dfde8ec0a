"""What a table's log says of files, and what lies below its root."""

import os
from contextlib import AbstractContextManager, nullcontext
from datetime import date, timedelta
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from backfill_platform.domain.clock import utc_now
from backfill_platform.domain.errors import UnsupportedTable
from backfill_platform.domain.retirements import TableLog
from backfill_platform.lakehouse.unreferenced import (
    data_elsewhere,
    files_at,
    has_moved_on,
    run_folders,
    table_log,
)

DAY = date(2025, 1, 5)
WINDOW = {"delta.deletedFileRetentionDuration": "interval 9 days"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "table"


def write(root: Path, number: int, mode: Literal["append", "overwrite"] = "append") -> None:
    rows = pa.table({"day": pa.array([DAY], pa.date32()), "number": pa.array([number])})
    write_deltalake(root, rows, partition_by=["day"], mode=mode, configuration=WINDOW)


def paths(root: Path) -> set[str]:
    actions = pa.table(DeltaTable(root).get_add_actions(flatten=True))
    return set(actions.column("path").to_pylist())


def read(root: Path) -> TableLog:
    log = table_log(root)
    assert log is not None
    return log


def put(root: Path, path: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(b"x")


def test_where_no_table_is_nothing_is_said(root: Path) -> None:
    root.mkdir()
    assert table_log(root) is None


def test_a_replaced_file_is_known_with_the_time_of_its_removal(root: Path) -> None:
    write(root, 1)
    (former,) = paths(root)
    begun = utc_now()
    write(root, 2, "overwrite")
    log = read(root)
    assert (log.active, set(log.removed_at)) == (paths(root), {former})
    assert begun - timedelta(seconds=1) <= log.removed_at[former] <= begun + timedelta(minutes=1)


def test_a_file_that_came_back_is_not_removed(root: Path) -> None:
    write(root, 1)
    (former,) = paths(root)
    write(root, 2, "overwrite")
    (later,) = paths(root)
    DeltaTable(root).restore(0)
    log = read(root)
    assert (log.active, set(log.removed_at)) == ({former}, {later})


def test_removals_are_read_from_a_checkpoint_where_the_entries_are_gone(root: Path) -> None:
    write(root, 1)
    write(root, 2, "overwrite")
    whole = read(root)
    DeltaTable(root).create_checkpoint()
    for entry in (root / "_delta_log").glob("*.json"):
        entry.unlink()
    log = read(root)
    assert (log.active, log.removed_at.keys()) == (whole.active, whole.removed_at.keys())
    assert (whole.is_whole, log.is_whole) == (True, False)


def test_the_rollback_window_is_the_tables_own(root: Path) -> None:
    write(root, 1)
    assert read(root).rollback_window == timedelta(days=9)


def test_the_files_of_a_former_version_are_known_as_long_as_it_can_be_read(root: Path) -> None:
    write(root, 1)
    former = paths(root)
    write(root, 2, "overwrite")
    assert (files_at(root, 0), files_at(root, 7)) == (former, None)


def test_it_is_seen_that_a_commit_has_followed(root: Path) -> None:
    write(root, 1)
    before = has_moved_on(root, 0)
    write(root, 2)
    assert (before, has_moved_on(root, 0), has_moved_on(root, 1)) == (False, True, False)


def test_a_table_with_features_that_we_do_not_know_is_refused(root: Path) -> None:
    rows = pa.table({"number": pa.array([1])})
    write_deltalake(root, rows)
    with pytest.raises(UnsupportedTable):
        table_log(root)


def test_data_and_the_rest_of_a_runs_folder_are_told_apart(root: Path) -> None:
    data = f"runs/run-1/day={DAY}/part-0.parquet"
    rest = [f"runs/run-1/day={DAY}/.part-0.parquet.crc", "runs/run-1/_delta_log/0.parquet"]
    for path in (data, *rest):
        put(root, path)
    (found,) = run_folders(root)
    assert [file.path for file in found.data] == [data]
    assert sorted(file.path for file in found.rest) == sorted(rest)
    assert (found.name, found.strange) == ("run-1", 0)


def test_links_are_not_followed_and_counted_as_strange(root: Path, tmp_path: Path) -> None:
    put(tmp_path, "elsewhere/part-0.parquet")
    put(root, f"runs/run-1/day={DAY}/part-0.parquet")
    (root / "runs" / "run-1" / "folder").symlink_to(tmp_path / "elsewhere")
    (root / "runs" / "run-1" / "part-1.parquet").symlink_to(tmp_path / "elsewhere/part-0.parquet")
    (root / "runs" / "run-2").symlink_to(tmp_path / "elsewhere")
    (found,) = run_folders(root)
    assert (len(found.data), found.rest, found.strange) == (1, (), 2)


def test_a_folder_of_runs_that_is_a_link_holds_nothing_of_ours(root: Path, tmp_path: Path) -> None:
    put(tmp_path, "elsewhere/run-1/part-0.parquet")
    root.mkdir()
    (root / "runs").symlink_to(tmp_path / "elsewhere")
    assert run_folders(root) == ()


def test_a_name_that_no_writer_gives_is_strange(root: Path) -> None:
    put(root, "runs/run-1/a name.parquet")
    (found,) = run_folders(root)
    assert (found.data, found.rest, found.strange) == ((), (), 1)


def test_what_another_removes_while_it_is_looked_for_is_not_found(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    day, file = root / "runs/bf-a/day=2025-01-05", root / "runs/bf-b/gone.parquet"
    day.mkdir(parents=True)
    put(root, "runs/bf-b/gone.parquet")
    put(root, "runs/bf-b/stays.parquet")
    listed = os.scandir

    def listed_amid_removals(path: Path) -> AbstractContextManager[list[os.DirEntry[str]]]:
        if path == day:
            day.rmdir()
        with listed(path) as entries:
            found = list(entries)
        if path == file.parent:
            file.unlink(missing_ok=True)
        return nullcontext(found)

    monkeypatch.setattr(os, "scandir", listed_amid_removals)
    emptied, left = run_folders(root)

    assert (emptied.name, emptied.data, emptied.strange) == ("bf-a", (), 0)
    assert [found.path for found in left.data] == ["runs/bf-b/stays.parquet"]


def test_data_elsewhere_leaves_out_runs_logs_and_hidden_folders(root: Path) -> None:
    ours = [f"day={DAY}/part-0.parquet", "part-1.parquet"]
    others = ["runs/run-1/part-0.parquet", "_delta_log/0.parquet", ".hidden/part-0.parquet"]
    for path in (*ours, *others, f"day={DAY}/_part-2.parquet", f"day={DAY}/notes.txt"):
        put(root, path)
    assert [file.path for file in data_elsewhere(root)] == ours
