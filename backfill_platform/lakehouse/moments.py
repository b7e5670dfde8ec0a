"""Which version of a Delta table readers saw at an instant, as its commits tell the time.

A commit carries the clock of whoever wrote it; where writers' clocks differ, so do their times. The
order of versions does not depend on clocks. Commits that log retention has removed are not found.
"""

from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from backfill_platform.lakehouse.delta_log import read_commit_time


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    version: int | None  # nothing where no version is known from then
    is_known: bool  # or the log no longer reaches back so far


def version_at(path: Path, at: datetime) -> Moment:
    versions = sorted(
        int(entry.stem) for entry in (path / "_delta_log").glob("[0-9]" * 20 + ".json")
    )
    seen = bisect_right(versions, at, key=lambda version: _committed_at(path, version))
    if seen:
        return Moment(version=versions[seen - 1], is_known=True)
    return Moment(version=None, is_known=not versions or versions[0] == 0)


def _committed_at(path: Path, version: int) -> datetime:
    """A writer need not say when; then the entry's own time stands for it, as in Delta itself."""
    said = read_commit_time(path, version)
    if said is not None:
        return said
    entry = path / "_delta_log" / f"{version:020d}.json"
    return datetime.fromtimestamp(entry.stat().st_mtime, tz=UTC)
