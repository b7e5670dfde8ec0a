"""Reads single commits of a Delta log as they were written: who made them, which files they moved.

delta-rs answers what a table holds now. This answers how it came to hold it, and gives the
statistics of a file word for word, which delta-rs only shows decoded. Commits that log retention
has removed are simply not there; whoever asks has to live with that.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from backfill_platform.domain.modes import VersionColumn

MILLISECONDS = 1000

_VERSION = re.compile(r"[0-9]{20}\.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One version of a table, as its log entry tells it."""

    version: int
    operation: str
    committed_at: datetime | None
    engine: str
    user_metadata: str | None
    added: Mapping[str, date | None]  # the day of each path, if the entry names one
    removed: Mapping[str, date | None]
    output_versions: Mapping[str, str | None]  # of both, where every version of the output is kept
    statistics: Mapping[str, str]  # of the files that it added, where its writer kept some
    only_rearranges: bool  # its writer says of every file in it that no row was changed

    @property
    def author(self) -> str:
        """Who made it: our run, or what another writer says of itself."""
        known = _json_object(self.user_metadata)
        if "run_id" in known:
            return f"run {known['run_id']}"
        said = f", saying {self.user_metadata[:200]!r}" if self.user_metadata else ""
        return f"{self.engine or 'an unnamed engine'}{said}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogMark:
    """Between which entries a log reaches; another one as soon as anybody commits or cleans up."""

    newest: str
    oldest: str
    written_ns: int  # when the newest was


def read_commit(path: Path, version: int) -> Commit | None:
    """Version `version` of the table at `path`, or nothing when its entry is gone."""
    try:
        text = _entry(path, version).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    actions = [json.loads(line) for line in text.splitlines() if line.strip()]
    info = next((action["commitInfo"] for action in actions if "commitInfo" in action), {})
    added = [action["add"] for action in actions if "add" in action]
    removed = [action["remove"] for action in actions if "remove" in action]
    return Commit(
        version=version,
        operation=info.get("operation", "an unnamed operation"),
        committed_at=_instant(info.get("timestamp")),
        engine=info.get("engineInfo", ""),
        user_metadata=info.get("userMetadata"),
        added=_days_by_path(added),
        removed=_days_by_path(removed),
        output_versions={file["path"]: _output_version(file) for file in (*added, *removed)},
        statistics={file["path"]: file["stats"] for file in added if file.get("stats")},
        only_rearranges=all(file.get("dataChange") is False for file in (*added, *removed)),
    )


def read_commit_time(path: Path, version: int) -> datetime | None:
    """Nothing where its writer did not say. A commit may name thousands of files, and this reads
    none of them."""
    with _entry(path, version).open(encoding="utf-8") as lines:
        said = (json.loads(line) for line in lines if '"commitInfo"' in line)
        info = next((action["commitInfo"] for action in said if "commitInfo" in action), {})
    return _instant(info.get("timestamp"))


def read_log_mark(path: Path) -> LogMark | None:
    """Nothing where there is no log."""
    try:
        entries = [*os.scandir(path / "_delta_log")]
    except FileNotFoundError:
        return None
    versions = [entry for entry in entries if _VERSION.fullmatch(entry.name)]
    newest = max(versions, key=lambda entry: entry.name, default=None)
    if newest is None:
        return None
    oldest = min(entry.name for entry in versions)
    written = newest.stat().st_mtime_ns
    return LogMark(newest=newest.name, oldest=oldest, written_ns=written)


def read_statistics(path: Path) -> dict[str, str]:
    """The statistics JSON of every file that a commit of this log ever added, by its path."""
    entries = sorted((path / "_delta_log").glob("[0-9]" * 20 + ".json"))
    return {
        add["path"]: add["stats"]
        for entry in entries
        for add in _added_files(entry)
        if add.get("stats")
    }


def _added_files(entry: Path) -> Iterator[dict[str, Any]]:
    with entry.open(encoding="utf-8") as lines:
        actions = (json.loads(line) for line in lines if '"add"' in line)
        yield from (action["add"] for action in actions if "add" in action)


def _entry(path: Path, version: int) -> Path:
    return path / "_delta_log" / f"{version:020d}.json"


def _days_by_path(files: Iterable[dict[str, Any]]) -> dict[str, date | None]:
    return {file["path"]: _day(file.get("partitionValues")) for file in files}


def _output_version(file: Mapping[str, Any]) -> str | None:
    """An entry names its partition columns in any order, and a day column of one partition column
    may have such a name as well."""
    values = file.get("partitionValues") or {}
    named = [values[name] for name in values if name in tuple(VersionColumn)]
    return named[0] if len(values) == 2 and named else None


def _day(partition_values: Mapping[str, str | None] | None) -> date | None:
    """Only tables of the platform are ours to explain: partitioned by a date, and by a version of
    the output at most."""
    known = partition_values or {}
    names = [name for name in known if len(known) == 1 or name not in tuple(VersionColumn)]
    values = [known[name] for name in names]
    if len(values) != 1 or values[0] is None:
        return None
    try:
        return date.fromisoformat(values[0])
    except ValueError:
        return None


def _instant(milliseconds: int | None) -> datetime | None:
    if milliseconds is None:
        return None
    return datetime.fromtimestamp(milliseconds / MILLISECONDS, tz=UTC)


def _json_object(text: str | None) -> dict[str, Any]:
    try:
        parsed = json.loads(text or "")
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}
