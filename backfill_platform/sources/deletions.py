"""Reads a declared list of subjects who are not to come back: all of it, or nothing. No JVM.

A list that cannot be read in full names nobody reliably, so it is a refusal and never an empty one.
What is wrong is told by file and row number: the libraries' own messages quote the rows, and a
subject must not get into a log, an error or the ledger that way.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as arrow
import pyarrow.csv as csv
import pyarrow.parquet as parquet

from backfill_platform.domain.privacy import DeletionList, ListedSubjects

SUFFIXES = (".csv", ".parquet")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableDeletions:
    """Why, and in which file; what to do about it."""

    problem: str


class _Unreadable(Exception):
    pass


def read_deletions(landing: Path, declared: DeletionList) -> ListedSubjects | UnreadableDeletions:
    """What stands in the list's files now."""
    try:
        subjects = frozenset(
            subject
            for path in _files(landing / declared.path)
            for subject in _subjects(path, declared)
        )
    except _Unreadable as found:
        return UnreadableDeletions(
            problem=f"deletion list {declared.name} of {declared.owner} cannot be used: {found}; "
            "without it nobody knows who is not to come back, so nothing goes on"
        )
    return ListedSubjects(list_name=declared.name, subjects=subjects)


def _files(path: Path) -> tuple[Path, ...]:
    """Names that begin with `.` or `_` are still being written."""
    if path.is_file():
        return (path,)
    found = sorted(one for one in path.glob("*") if not one.name.startswith((".", "_")))
    if not found:
        raise _Unreadable(
            f"{path} is not there or holds no file; have it landed again (a list of nobody is a "
            "file without rows)"
        )
    return tuple(found)


def _subjects(path: Path, declared: DeletionList) -> Iterator[str]:
    columns = (declared.subject_column, declared.day_column)
    table = _read(path, columns)
    if not arrow.types.is_date(table.schema.field(declared.day_column).type):
        raise _Unreadable(f"{declared.day_column} of {path} holds no dates (YYYY-MM-DD)")
    undated = table.column(declared.day_column).null_count
    if undated:
        raise _Unreadable(f"{undated} rows of {path} do not say when ({declared.day_column})")
    for number, subject in enumerate(table.column(declared.subject_column).to_pylist(), start=1):
        if not subject or subject != subject.strip():
            raise _Unreadable(
                f"{declared.subject_column} of row {number} of {path} is empty or has blanks "
                "around it, and would match nobody"
            )
        yield subject


def _read(path: Path, columns: tuple[str, str]) -> arrow.Table:
    """Without the cause: pyarrow quotes what it could not read."""
    if path.suffix not in SUFFIXES:
        raise _Unreadable(f"{path} is none of {', '.join(SUFFIXES)}")
    try:
        return _read_csv(path, columns) if path.suffix == ".csv" else _read_parquet(path, columns)
    except (arrow.ArrowException, KeyError, OSError, UnicodeError):
        raise _Unreadable(
            f"{path} is damaged, or has no text column {columns[0]!r} and date column "
            f"{columns[1]!r}; have it landed again"
        ) from None


def _read_csv(path: Path, columns: tuple[str, str]) -> arrow.Table:
    """Subjects as they stand there: `0042` is no number, and `NA` is no null."""
    subject, day = columns
    options = csv.ConvertOptions(
        column_types={subject: arrow.string(), day: arrow.date32()},
        include_columns=list(columns),
        strings_can_be_null=False,
    )
    return csv.read_csv(path, convert_options=options)


def _read_parquet(path: Path, columns: tuple[str, str]) -> arrow.Table:
    table = parquet.ParquetFile(path).read(columns=list(columns))
    type_found = table.schema.field(columns[0]).type
    if not (arrow.types.is_string(type_found) or arrow.types.is_large_string(type_found)):
        raise KeyError(columns[0])
    return table
