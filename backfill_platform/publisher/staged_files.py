"""Decides whether files may be added to a target, and turns them into Delta's add actions.

Delta checks nothing of what a commit adds: a file that is not there, one of another partition or
one of another shape would become part of the table all the same. So all of it is looked at here,
and files in the file system, because VACUUM cleans up without a word in a log. `source` is the
table whose log names the files: a run's staging, or the target itself where former files return.
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
    target: Path, source: Path, publication: Publication, *, columns: tuple[Column, ...]
) -> list[AddAction]:
    """The add actions of the publication, once every file proved to be what was measured.

    `columns` are those of the target once they are added."""
    filled = {column.name for column in columns if not column.is_nullable}
    is_staged = source != target
    problems = [
        *(_column_problems(source, columns) if is_staged else ()),
        *_repeated(publication),
        *(
            f"{file.path}: {problem}"
            for file in publication.files
            for problem in (
                *_path_problems(publication, file, is_staged=is_staged),
                *_file_problems(source, publication, file, filled),
            )
        ),
    ]
    if problems:
        say = _staging_refusal if is_staged else _former_refusal
        raise StagingIncomplete(say(publication, source, _shown(problems)))
    return [
        _add_action(_path_in_target(target, source, file), publication, file)
        for file in publication.files
    ]


def paths_in_target(target: Path, source: Path, publication: Publication) -> set[str]:
    """The files as the target's log will name them."""
    return {_path_in_target(target, source, file) for file in publication.files}


def refuse_staging_elsewhere(target: Path, staging: Path, publication: Publication) -> None:
    """What is published must already lie where it will stay."""
    if not staging.is_relative_to(target) or staging == target:
        raise StagingIncomplete(
            f"{publication.table}: staging {staging} does not lie below its target {target}; "
            "stage the run again"
        )


def _path_in_target(target: Path, source: Path, file: DataFile) -> str:
    """By text alone: it has to name a wrong path too, so that it can be refused."""
    prefix = source.relative_to(target).as_posix()
    return file.path if prefix == "." else f"{prefix}/{file.path}"


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


def _path_problems(publication: Publication, file: DataFile, *, is_staged: bool) -> Iterator[str]:
    """Staged files lie in the folder of their day and version; former ones lie so below whatever
    they were published from."""
    *folders, name = file.path.split("/")
    if not folders or not all(_NAME.fullmatch(part) for part in (*folders, name)):
        yield "is not a plain path below its table"
        return
    own = [f"{name}={value}" for name, value in _partition_values(publication, file).items()]
    if (folders if is_staged else folders[-len(own) :]) != own:
        yield f"does not lie in the folder of its day {file.day}, {'/'.join(own)}"


def _file_problems(
    source: Path, publication: Publication, file: DataFile, filled: set[str]
) -> Iterator[str]:
    if file.day not in publication.base:
        yield f"holds {file.day}, which this publication does not name"
    if file.output_version != publication.output_version:
        yield f"holds version {file.output_version} and not {publication.output_version}"
    yield from _size_problems(source / file.path, file)
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


def _partition_values(publication: Publication, file: DataFile) -> dict[str, str]:
    version = publication.version_column
    of_version = {version.value: str(file.output_version)} if version else {}
    return {publication.partition_column: str(file.day), **of_version}


def _add_action(path: str, publication: Publication, file: DataFile) -> AddAction:
    return AddAction(
        path=path,
        size=file.size_bytes,
        partition_values=dict(_partition_values(publication, file)),
        modification_time=file.modified_at_ms,
        data_change=True,
        # Word for word as the log has them: readers skip data and count rows by these.
        stats=file.statistics or json.dumps({"numRecords": file.row_count}),
    )


def _shown(problems: list[str]) -> str:
    shown = problems[:SHOWN_PROBLEMS]
    more = len(problems) - len(shown)
    return "\n".join(f"  - {problem}" for problem in [*shown, *([f"and {more} more"] * bool(more))])


def _staging_refusal(publication: Publication, staging: Path, problems: str) -> str:
    return (
        f"{publication.table}: publication {publication.publication_id} is refused, because its "
        f"staging at {staging} is not what was measured:\n{problems}\n"
        "Stage the run's chunks again, let them be judged again, and publish then."
    )


def _former_refusal(publication: Publication, target: Path, problems: str) -> str:
    return (
        f"{publication.table}: {publication.publication_id} returns nothing, because what was "
        f"replaced in {target} is no longer there as its log tells:\n{problems}\n"
        "Restore the files from a copy and try again, or restate the days with a new run."
    )
