"""Finds the files below a table's root, and what the table's log says about them; deletes nothing.

Links are never followed. What lies below a folder with a leading "_" or "." belongs to whoever made
it; only in the two folders of a run such files are the run's. A log names files by encoded paths,
so each is known in both spellings.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from backfill_platform.domain.retirements import FoundFile, TableLog
from backfill_platform.lakehouse.delta_tables import LIBRARY_ERRORS, open_table, translated
from backfill_platform.lakehouse.paths import BESIDE, RUNS
from backfill_platform.lakehouse.retention import rollback_hours

DELTA_LOG = "_delta_log"
MILLISECONDS = 1000
_PLAIN = re.compile(r"[A-Za-z0-9._=%+-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFolder:
    name: str
    data: tuple[FoundFile, ...]
    rest: tuple[FoundFile, ...]
    strange: int  # links, and names that no writer of ours gives


def run_folders(root: Path) -> tuple[FoundFolder, ...]:
    """What lies below each folder of `runs/`, and what is kept about the same run beside it."""
    names = {*_folders(root / RUNS), *_folders(root / BESIDE)}
    return tuple(_run_folder(root, name) for name in sorted(names))


def data_elsewhere(root: Path) -> tuple[FoundFile, ...]:
    """Data of the table in no run's folder: compactions, and what others have written."""
    ours = {name for name in _folders(root) if name != RUNS and not _is_hidden(name)}
    found = [*_files(root, ""), *(file for name in ours for file in _walk(root, name))]
    return _sorted(file for file in found if _is_plain(file.path) and _is_data(file.path))


def table_log(root: Path) -> TableLog | None:
    """Nothing where there is no table."""
    table = open_table(root)
    if table is None:
        return None
    active = _paths(table, root)
    entries = {int(path.stem): path for path in (root / DELTA_LOG).glob("[0-9]" * 20 + ".json")}
    removed = _removals(root / DELTA_LOG, [entries[version] for version in sorted(entries)])
    return TableLog(
        version=table.version(),
        active=active,
        removed_at={path: at for path, at in removed.items() if path not in active},
        is_whole=set(range(table.version() + 1)) <= entries.keys(),
        rollback_window=timedelta(hours=rollback_hours(table.metadata().configuration)),
    )


def has_moved_on(root: Path, version: int) -> bool:
    """Whether a commit has followed: its entry has to have this name."""
    return (root / DELTA_LOG / f"{version + 1:020d}.json").exists()


def files_at(root: Path, version: int) -> frozenset[str] | None:
    """What the table referenced at that version; nothing when it can no longer be read."""
    try:
        return _paths(DeltaTable(str(root), version=version), root)
    except LIBRARY_ERRORS:
        return None


def _paths(table: DeltaTable, root: Path) -> frozenset[str]:
    try:
        named = pa.table(table.get_add_actions(flatten=True)).column("path").to_pylist()
    except LIBRARY_ERRORS as error:
        raise translated(error, root) from error
    return frozenset(spelled for path in named for spelled in (path, unquote(path)))


def _removals(log: Path, entries: list[Path]) -> dict[str, datetime]:
    """The last removal of each path, as far as checkpoints and entries tell."""
    removed: dict[str, datetime] = {}
    told = (
        *(removal for part in log.glob("*.checkpoint*.parquet") for removal in _checkpointed(part)),
        *(removal for entry in entries for removal in _removed_in(entry)),
    )
    for path, at in told:
        removed[path] = max(at, removed.get(path, at))
    return removed


def _checkpointed(part: Path) -> Iterator[tuple[str, datetime]]:
    wanted = pq.ParquetFile(part).read(columns=["remove.path", "remove.deletionTimestamp"])
    for row in wanted.column("remove").to_pylist():
        if row and row.get("path"):
            yield unquote(row["path"]), _instant(row.get("deletionTimestamp"), part)


def _removed_in(entry: Path) -> Iterator[tuple[str, datetime]]:
    """Also counted from the commit, if its writer says that it was later."""
    removals: list[tuple[str, datetime]] = []
    committed_at = datetime.fromtimestamp(0, tz=UTC)
    with entry.open(encoding="utf-8") as lines:
        for line in lines:
            action = json.loads(line) if '"remove"' in line or '"commitInfo"' in line else {}
            if "remove" in action:
                at = _instant(action["remove"].get("deletionTimestamp"), entry)
                removals.append((unquote(action["remove"]["path"]), at))
            if "commitInfo" in action:
                committed_at = _instant(action["commitInfo"].get("timestamp"), entry)
    yield from ((path, max(at, committed_at)) for path, at in removals)


def _instant(milliseconds: int | None, said_in: Path) -> datetime:
    """A writer need not say when; then the time of its file stands for it."""
    if milliseconds is None:
        return datetime.fromtimestamp(said_in.stat().st_mtime, tz=UTC)
    return datetime.fromtimestamp(milliseconds / MILLISECONDS, tz=UTC)


def _run_folder(root: Path, name: str) -> FoundFolder:
    """What lies beside is no data: no table of anybody's shows it."""
    own = [place for place in (RUNS, BESIDE) if name in _folders(root / place)]
    found = (file for place in own for file in _walk(root, f"{place}/{name}"))
    plain = [file for file in found if _is_plain(file.path)]
    return FoundFolder(
        name=name,
        data=_sorted(file for file in plain if _is_data(file.path)),
        rest=_sorted(file for file in plain if not _is_data(file.path)),
        strange=sum(count for place in own for count in _count_strange(root, f"{place}/{name}")),
    )


def _folders(path: Path) -> tuple[str, ...]:
    if path.is_symlink() or not path.is_dir():
        return ()
    return tuple(sorted(at.name for at in _entries(path) if at.is_dir(follow_symlinks=False)))


def _walk(root: Path, below: str) -> Iterator[FoundFile]:
    yield from _files(root, below)
    for name in _folders(root / below):
        yield from _walk(root, f"{below}/{name}")


def _files(root: Path, below: str) -> Iterator[FoundFile]:
    prefix = f"{below}/" if below else ""
    for entry in _entries(root / below):
        with suppress(FileNotFoundError):
            if entry.is_file(follow_symlinks=False):
                size = entry.stat(follow_symlinks=False).st_size
                yield FoundFile(path=f"{prefix}{entry.name}", size_bytes=size)


def _count_strange(root: Path, below: str) -> Iterator[int]:
    for entry in _entries(root / below):
        is_ours = entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
        yield 0 if is_ours and _is_plain(entry.name) else 1
    for name in _folders(root / below):
        yield from _count_strange(root, f"{below}/{name}")


def _entries(folder: Path) -> tuple[os.DirEntry[str], ...]:
    """None where it has gone since it was found: another may retire at the same time."""
    try:
        with os.scandir(folder) as entries:
            return tuple(entries)
    except FileNotFoundError:
        return ()


def _sorted(files: Iterable[FoundFile]) -> tuple[FoundFile, ...]:
    return tuple(sorted(files, key=lambda file: file.path))


def _is_plain(path: str) -> bool:
    return all(_PLAIN.fullmatch(part) for part in path.split("/"))


def _is_data(path: str) -> bool:
    *folders, name = path.split("/")
    return name.endswith(".parquet") and not any(_is_hidden(part) for part in (*folders, name))


def _is_hidden(name: str) -> bool:
    return name.startswith(("_", "."))
