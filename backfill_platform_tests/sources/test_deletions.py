"""A deletion list is read in full or refused, and what is refused quotes nobody."""

from datetime import date

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from backfill_platform.domain.privacy import DeletionList, ListedSubjects
from backfill_platform.sources.deletions import UnreadableDeletions, read_deletions

DECLARED = DeletionList(
    name="landing.forgotten", path="forgotten", owner="privacy", description="Who asked for it."
)
HEADER = "subject,deleted_on\n"


@pytest.fixture
def land(tmp_path):
    def landed(text: str, name: str = "first.csv") -> None:
        folder = tmp_path / "forgotten"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text)

    return landed


def read(tmp_path) -> ListedSubjects:
    found = read_deletions(tmp_path, DECLARED)
    assert isinstance(found, ListedSubjects)
    return found


def problem(tmp_path) -> str:
    found = read_deletions(tmp_path, DECLARED)
    assert isinstance(found, UnreadableDeletions)
    return found.problem


def test_subjects_are_text_as_it_stands_there(tmp_path, land):
    land(f'{HEADER}0042,2025-01-01\nNA,2025-01-02\n"x, y",2025-01-02\n')
    assert read(tmp_path).subjects == {"0042", "NA", "x, y"}


def test_a_list_may_grow_by_files_of_either_kind(tmp_path, land):
    land(f"{HEADER}C-1,2025-01-01\n")
    day = arrow.array([date(2025, 1, 2)] * 2, arrow.date32())
    table = arrow.table({"subject": ["C-1", "C-2"], "deleted_on": day})
    parquet.write_table(table, tmp_path / "forgotten" / "second.parquet")
    land(f"{HEADER}C-3,2025-01-01\n", "_being_written.csv")
    assert read(tmp_path).subjects == {"C-1", "C-2"}


def test_a_list_may_be_one_file(tmp_path):
    (tmp_path / "list.csv").write_text(f"{HEADER}C-1,2025-01-01\n")
    declared = DeletionList(name="a", path="list.csv", owner="privacy", description="")
    found = read_deletions(tmp_path, declared)
    assert isinstance(found, ListedSubjects)
    assert found.pinned.subjects == 1


def test_a_list_of_nobody_is_a_file_without_rows(tmp_path, land):
    land(HEADER)
    assert read(tmp_path).subjects == frozenset()


def test_a_list_that_is_not_there_is_refused_by_its_file(tmp_path):
    assert f"{tmp_path / 'forgotten'} is not there" in problem(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "subject\nC-17\n",
        f"{HEADER}C-17,soon\n",
        f"{HEADER}C-17,2025-01-01,more\n",
        f"{HEADER}C-17,\n",
        f"{HEADER}C-17 ,2025-01-01\n",
        f"{HEADER}C-17,2025-01-01\n,2025-01-01\n",
    ],
    ids=["empty", "no day", "no date", "torn", "undated", "blanks", "nobody"],
)
def test_what_cannot_be_read_in_full_is_refused_and_quotes_nobody(tmp_path, land, text):
    land(text)
    said = problem(tmp_path)
    assert "landing.forgotten of privacy cannot be used" in said
    assert ("first.csv" in said, "C-17" in said) == (True, False)


@pytest.mark.parametrize("name", ["list.txt", "list.parquet"])
def test_a_file_of_another_kind_is_refused(tmp_path, land, name):
    land(f"{HEADER}C-17,2025-01-01\n", name)
    assert name in problem(tmp_path)


def test_a_parquet_list_of_numbers_is_refused(tmp_path):
    (tmp_path / "forgotten").mkdir()
    day = arrow.array([date(2025, 1, 2)], arrow.date32())
    table = arrow.table({"subject": [17], "deleted_on": day})
    parquet.write_table(table, tmp_path / "forgotten" / "numbers.parquet")
    assert "has no text column 'subject'" in problem(tmp_path)
