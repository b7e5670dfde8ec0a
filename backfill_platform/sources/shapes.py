"""Compares landed files with the schema that their source declares, by their footers. No Spark.

Spark reads only columns that are declared, and nulls where there is none, so nobody would ever see
that a delivery has changed. What it could not even read is refused before anything is computed.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path

from backfill_platform.domain.contracts import Contract
from backfill_platform.domain.errors import ContractBroken
from backfill_platform.domain.schema_changes import is_widening
from backfill_platform.domain.tables import FileSource
from backfill_platform.lakehouse.file_columns import column_types
from backfill_platform.sources.files import day_files

_Find = Callable[[Mapping[str, str]], Iterator[str]]


def landed_problems(
    landing: Path, source: FileSource, contract: Contract, day: date
) -> tuple[str, ...]:
    """A sentence for each difference, which names the file, the column and the type."""
    return _told(landing, day_files(landing, source, day), _Declared(source, contract).problems)


def refuse_unreadable(
    landing: Path, source: FileSource, contract: Contract, days: Iterable[date]
) -> None:
    """Instead of Spark's own failure, which comes in the middle of a chunk and says less."""
    files = [file for day in days for file in day_files(landing, source, day)]
    problems = _told(landing, files, _Declared(source, contract).unreadable)
    if problems:
        raise ContractBroken(
            f"{source.name} cannot be read: {'; '.join(problems[:5])}. Have {source.owner} land it "
            "as it is declared, or declare the new type, and plan again"
        )


class _Declared:
    def __init__(self, source: FileSource, contract: Contract) -> None:
        self._source = source.name
        columns = {column.name: column.type for column in contract.columns}
        # The folder says it; a file that says it too is read by the folder all the same.
        columns.pop(source.day_column, None)
        self._types, self._beside = columns, source.day_column

    def problems(self, held: Mapping[str, str]) -> Iterator[str]:
        for name, found in held.items():
            if name not in self._types and name != self._beside:
                yield f"has column {name!r} ({found}), which {self._source} does not declare"
        for name, declared in self._types.items():
            if name not in held:
                yield f"has no column {name!r} ({declared}), which {self._source} declares"
        yield from self.unreadable(held)

    def unreadable(self, held: Mapping[str, str]) -> Iterator[str]:
        for name, declared in self._types.items():
            if name in held and not _is_read_as(held[name], declared):
                yield f"holds column {name!r} as {held[name]} and not as {declared}"


def _is_read_as(held: str, declared: str) -> bool:
    """Also where every value fits. Nested types have no one name, so they are left to Spark."""
    is_nested = declared.startswith("{") or "<" in held
    is_instant = held == "timestamp" and declared.startswith("timestamp")
    return is_nested or is_instant or held == declared or is_widening(held, declared)


def _told(landing: Path, files: Iterable[Path], find: _Find) -> tuple[str, ...]:
    """One sentence for a problem, however many files have it."""
    having: defaultdict[str, list[str]] = defaultdict(list)
    for file in files:
        for problem in find(column_types(file)):
            having[problem].append(file.relative_to(landing).as_posix())
    return tuple(f"{_named(named)} {problem}" for problem, named in having.items())


def _named(files: list[str]) -> str:
    more = f" (and {len(files) - 1:,} more alike)" if len(files) > 1 else ""
    return f"{files[0]}{more}"
