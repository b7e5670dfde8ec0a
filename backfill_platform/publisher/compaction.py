"""Recognises partitions of which only the files were rearranged since a run was reviewed.

OPTIMIZE puts the same rows into other files, and such a partition still holds what was reviewed.
Two things must hold. Every commit that touched it says of all its files that no row was changed,
which the protocol asks of a writer as a promise; and the numbers of rows and of nulls are those of
before, because a promise can be broken. Figures alone would prove nothing: an update may leave all
of them as they were. Minima and maxima are not compared: engines cut long texts differently.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from backfill_platform.domain.publications import Compaction, DataFile
from backfill_platform.lakehouse.former_files import former_files
from backfill_platform.publisher.movements import Movements


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    rows: int
    nulls: Mapping[str, int]  # by column of which every file counts them

    def contradict(self, others: "Figures") -> bool:
        shared = self.nulls.keys() & others.nulls.keys()
        differing = [column for column in shared if self.nulls[column] != others.nulls[column]]
        return self.rows != others.rows or bool(differing)


def find_compaction(
    target: Path, movements: Movements, *, version: int, up_to: str | None = None
) -> Compaction | None:
    """Which of the moved days hold the same rows as before, at this version of the target; later
    versions of its output than `up_to` are left out of account."""
    promised = {
        day: commits
        for day, commits in movements.by_day.items()
        if day not in movements.unexplained and all(commit.only_rearranges for commit in commits)
    }
    first = {day: commits[-1].version - 1 for day, commits in promised.items()}
    before = _figures(target, first, up_to)
    now = _figures(target, dict.fromkeys(promised, version), up_to)
    kept = [day for day in before if day in now and not now[day].contradict(before[day])]
    versions = {commit.version for day in kept for commit in promised[day]}
    if not kept:
        return None
    return Compaction(days=tuple(sorted(kept)), versions=tuple(sorted(versions, reverse=True)))


def _figures(target: Path, versions: Mapping[date, int], up_to: str | None) -> dict[date, Figures]:
    """Nothing where the log no longer shows one of the versions."""
    files = former_files(target, versions, up_to=up_to) or ()
    return {
        day: _sum(file for file in files if file.day == day) for day in {one.day for one in files}
    }


def _sum(files: Iterable[DataFile]) -> Figures:
    rows, count = 0, 0
    counted_in: Counter[str] = Counter()
    nulls: Counter[str] = Counter()
    for file in files:
        rows, count = rows + file.row_count, count + 1
        known = json.loads(file.statistics or "{}").get("nullCount", {})
        simple = {column: found for column, found in known.items() if isinstance(found, int)}
        counted_in.update(simple.keys())
        nulls.update(simple)
    return Figures(
        rows=rows, nulls={column: nulls[column] for column in nulls if counted_in[column] == count}
    )
