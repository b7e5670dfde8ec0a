"""In which files the rows of many days lay when they landed, if they were only rearranged since.

What a compaction is, and why figures alone prove nothing, stands in `publisher.compaction`, which
opens the versions that one publication is about. Years of days have landed in as many versions, and
opening each of them takes minutes: here the log is walked back once, and every entry is read once.
Where an entry is gone, nothing is proved of the days that landed before it.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path

from backfill_platform.lakehouse.delta_files import TableState
from backfill_platform.lakehouse.delta_log import Commit, read_commit

Held = dict[date, dict[str, str | None]]  # by day: its files, with their versions of the output


def files_when_landed(
    path: Path, state: TableState, landed: Mapping[date, int]
) -> dict[date, frozenset[str]]:
    """Only of days that hold in `state` the rows that landed in that version of the target, in the
    same files or in others: no commit since then says that it changed a row of them, and the
    numbers of rows and nulls are as they were, as far as both sides count them."""
    now = {day: _all_files(state, day) for day in landed if landed[day] <= state.version}
    former, statistics = _walk_back(path, state, landed, {day: dict(now[day]) for day in now})
    return {
        day: files
        for day, files in former.items()
        if not _contradict(files, state.seen_of(now[day]), statistics)
    }


def _all_files(state: TableState, day: date) -> dict[str, str | None]:
    files = (*state.files.get(day, ()), *state.others.get(day, ()))
    return {file.path: file.output_version for file in files}


def _walk_back(
    path: Path, state: TableState, landed: Mapping[date, int], held: Held
) -> tuple[dict[date, frozenset[str]], dict[str, str]]:
    """What each day held when it landed; and the statistics of every file that was passed."""
    landed_in: defaultdict[int, list[date]] = defaultdict(list)
    for day in held:
        landed_in[landed[day]].append(day)
    former: dict[date, frozenset[str]] = {}
    statistics: dict[str, str] = {}
    for version in range(state.version, min(landed_in, default=0) - 1, -1):
        commit = read_commit(path, version) if held else None
        if commit is None:
            break
        statistics.update(commit.statistics)
        arrived = {day: held.pop(day) for day in landed_in.get(version, ()) if day in held}
        former |= {day: frozenset(state.seen_of(arrived[day])) for day in _found(commit, arrived)}
        _undo(commit, held)
    return former, statistics


def _found(commit: Commit, arrived: Held) -> Held:
    """Those of which the walk back has led to what the commit left there: an entry need not name
    the day of a file that it removes, and such a file is not found again."""
    added = ((path, day) for path, day in commit.added.items() if day is not None)
    lost = {day for path, day in added if day in arrived and path not in arrived[day]}
    return {day: files for day, files in arrived.items() if day not in lost}


def _undo(commit: Commit, held: Held) -> None:
    """Of a day in which it changed a row, nothing can be proved any more."""
    touched: set[date] = set()
    for path, day in commit.added.items():
        if day is not None and day in held:
            held[day].pop(path, None)
            touched.add(day)
    for path, day in commit.removed.items():
        if day is not None and day in held:
            held[day][path] = commit.output_versions.get(path)
            touched.add(day)
    if not commit.only_rearranges:
        for day in touched:
            del held[day]


def _contradict(
    former: frozenset[str], found: Iterable[str], statistics: Mapping[str, str]
) -> bool:
    before, now = _figures(former, statistics), _figures(found, statistics)
    return any(before[name] != now[name] for name in before.keys() & now.keys())


def _figures(paths: Iterable[str], statistics: Mapping[str, str]) -> dict[str, int]:
    """Rows, and the nulls of each column; only what every one of the files counts."""
    files = [json.loads(statistics.get(path, "{}")) for path in paths]
    sums: Counter[str] = Counter()
    counted_in: Counter[str] = Counter()
    for known in files:
        nulls = {f"nulls of {name}": n for name, n in known.get("nullCount", {}).items()}
        figures = {"rows": known.get("numRecords"), **nulls}
        simple = {name: number for name, number in figures.items() if isinstance(number, int)}
        counted_in.update(simple.keys())
        sums.update(simple)
    return {name: sums[name] for name in sums if counted_in[name] == len(files)}
