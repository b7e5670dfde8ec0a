"""Files go below their root and nowhere else, and twice equals once."""

from pathlib import Path

import pytest

from backfill_platform.lakehouse.removal import remove_empty_folders, remove_files, still_there


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "table"


def put(root: Path, path: str) -> Path:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(b"x")
    return root / path


def test_a_file_goes_with_its_checksum_and_its_neighbour_stays(root: Path) -> None:
    going, checksum = put(root, "a/part-0.parquet"), put(root, "a/.part-0.parquet.crc")
    staying = put(root, "a/part-1.parquet")
    remove_files(root, ["a/part-0.parquet"])
    assert [one.exists() for one in (going, checksum, staying)] == [False, False, True]


def test_removing_twice_equals_once(root: Path) -> None:
    put(root, "a/part-0.parquet")
    remove_files(root, ["a/part-0.parquet", "a/part-0.parquet", "b/never.parquet"])
    remove_files(root, ["a/part-0.parquet"])
    assert [*(root / "a").iterdir()] == []


@pytest.mark.parametrize("path", ["../part-0.parquet", "/part-0.parquet", "a/../../b.parquet"])
def test_a_path_that_leads_out_of_the_root_is_refused(root: Path, path: str) -> None:
    outside = put(root.parent, "part-0.parquet")
    root.mkdir()
    with pytest.raises(ValueError, match="does not lie below"):
        remove_files(root, [path])
    assert outside.exists()


def test_a_folder_that_became_a_link_leads_nowhere(root: Path, tmp_path: Path) -> None:
    theirs = put(tmp_path, "elsewhere/part-0.parquet")
    root.mkdir()
    (root / "a").symlink_to(theirs.parent)
    remove_files(root, ["a/part-0.parquet"])
    assert theirs.exists()
    assert still_there(root, ["a/part-0.parquet"]) == ("a/part-0.parquet",)


def test_only_empty_folders_go(root: Path) -> None:
    (root / "runs" / "run-1" / "deep" / "deeper").mkdir(parents=True)
    staying = put(root, "runs/run-2/part-0.parquet")
    remove_empty_folders(root, "runs/run-1")
    remove_empty_folders(root, "runs/run-2")
    remove_empty_folders(root, "runs/run-3")
    assert [*(root / "runs").iterdir()] == [staying.parent]


def test_empty_folders_behind_a_link_stay(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "run-1").mkdir(parents=True)
    root.mkdir()
    (root / "runs").symlink_to(tmp_path / "elsewhere")
    remove_empty_folders(root, "runs/run-1")
    assert (tmp_path / "elsewhere" / "run-1").exists()
