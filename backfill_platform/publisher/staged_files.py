"""Decides whether staged files may be added to a target, and turns them into Delta's add actions.

Delta checks nothing of what a commit adds: a file that is not there, one of another partition or
one of another shape would become part of the table all the same. So all of it is looked at here,
and files in the file system, because VACUUM cleans staging away without a word in its log.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from deltalake.transaction import AddAction

from backfill_platform.domain.contracts import Column
from backfill_platform.domain.errors import StagingIncomplete
from backfill_platform.domain.publications import DataFile, Publication
from backfill_platform.lakehouse.delta_files import table_columns
from backfill_platform.lakehouse.delta_tables import open_table

# Plain names only: Delta logs are URL-encoded, and readers skip names that begin with "_" or ".".
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=-]*")
SHOWN_PROBLEMS = 10


def check_staged_files(
    target: Path, staging: Path, publication: Publication, *, columns: tuple[Column, ...]
) -> list[AddAction]:
    """The add actions of the publication, once every file proved to be what was measured."""
    filled = {column.name for column in columns if not column.is_nullable}
    problems = [
        *_column_problems(staging, columns),
        *_repeated(publication),
        *(
            f"{file.path}: {problem}"
            for file in publication.files
            for problem in _file_problems(staging, publication, file, filled)
        ),
    ]
    if problems:
        raise StagingIncomplete(_refusal(publication, staging, problems))
    prefix = _prefix(target, staging, publication)
    return [_add_action(prefix, publication.partition_column, file) for file in publication.files]


def paths_in_target(target: Path, staging: Path, publication: Publication) -> set[str]:
    """The staged files as the target's log will name them."""
    prefix = _prefix(target, staging, publication)
    return {f"{prefix}/{file.path}" for file in publication.files}


def _prefix(target: Path, staging: Path, publication: Publication) -> str:
    if not staging.is_relative_to(target) or staging == target:
        raise StagingIncomplete(
            f"{publication.table}: staging {staging} does not lie below its target {target}; "
            "stage the run again"
        )
    return staging.relative_to(target).as_posix()


def _column_problems(staging: Path, columns: tuple[Column, ...]) -> Iterator[str]:
    table = open_table(staging)
    if table is None:
        yield "there is no staging table"
        return
    wanted = {column.name: column.type for column in columns}
    staged = {column.name: column.type for column in table_columns(table)}
    for name in sorted(wanted.keys() | staged.keys()):
        if wanted.get(name) != staged.get(name):
            yield f"column {name!r} is {staged.get(name)} here, {wanted.get(name)} in the target"


def _repeated(publication: Publication) -> Iterator[str]:
    named = Counter(file.path for file in publication.files)
    yield from (f"{path}: is named {times} times" for path, times in named.items() if times > 1)


def _file_problems(
    staging: Path, publication: Publication, file: DataFile, filled: set[str]
) -> Iterator[str]:
    folder, *rest = file.path.split("/")
    if not rest or not all(_NAME.fullmatch(name) for name in (folder, *rest)):
        yield "is not a plain path below staging"
        return
    if folder != f"{publication.partition_column}={file.day}":
        yield f"does not lie in the folder of its day {file.day}"
    if file.day not in publication.base:
        yield f"holds {file.day}, which this publication does not name"
    yield from _size_problems(staging / file.path, file)
    yield from _null_problems(file, filled)


def _size_problems(path: Path, file: DataFile) -> Iterator[str]:
    try:
        found = path.stat().st_size
    except FileNotFoundError:
        yield "is missing"
        return
    if found != file.size_bytes:
        yield f"has {found} bytes and was measured with {file.size_bytes}"


def _null_problems(file: DataFile, filled: set[str]) -> Iterator[str]:
    """Staging takes nulls so that gates can count them; a target column may not."""
    null_counts = json.loads(file.statistics or "{}").get("nullCount", {})
    for name in sorted(filled & null_counts.keys()):
        if null_counts[name]:
            yield f"has {null_counts[name]} nulls in {name!r}, where the target takes none"


def _add_action(prefix: str, partition_column: str, file: DataFile) -> AddAction:
    return AddAction(
        path=f"{prefix}/{file.path}",
        size=file.size_bytes,
        partition_values={partition_column: str(file.day)},
        modification_time=file.modified_at_ms,
        data_change=True,
        # Word for word as the staging log has them: readers skip data and count rows by these.
        stats=file.statistics or json.dumps({"numRecords": file.row_count}),
    )


def _refusal(publication: Publication, staging: Path, problems: list[str]) -> str:
    shown = problems[:SHOWN_PROBLEMS]
    more = len(problems) - len(shown)
    lines = "\n".join(
        f"  - {problem}" for problem in [*shown, *([f"and {more} more"] * bool(more))]
    )
    return (
        f"{publication.table}: publication {publication.publication_id} is refused, because its "
        f"staging at {staging} is not what was measured:\n{lines}\n"
        "Stage the run's chunks again, let them be judged again, and publish then."
    )
