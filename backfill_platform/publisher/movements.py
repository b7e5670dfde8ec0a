"""Finds out what moved in a target since a run was reviewed, in which versions, and by whom.

A refusal that only says "conflict" helps nobody. The log is walked back from the newest version,
undoing each commit, until the moved partitions hold what was reviewed; the commits on that way that
touched them are the movers.
"""

from collections.abc import Iterable
from datetime import date
from pathlib import Path

from backfill_platform.domain.errors import TargetMoved
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.publications import EMPTY_PARTITION, Publication, fingerprint
from backfill_platform.lakehouse.delta_files import TableState
from backfill_platform.lakehouse.delta_log import Commit, read_commit

LONGEST_WALK = 1000
SHOWN_MOVES = 10
SHOWN_DIGITS = 12


def moved_days(publication: Publication, state: TableState) -> tuple[date, ...]:
    """The days that hold something else than what the run was reviewed against."""
    found = state.fingerprints
    return tuple(day for day in publication.days if found[day] != publication.base[day])


def target_moved(
    target: Path, publication: Publication, state: TableState, moved: tuple[date, ...]
) -> TargetMoved:
    movers = _movers(target, publication, state, moved)
    by_whom = [_describe_mover(commit) for commit in movers] or [
        "the versions that moved them are no longer in the log"
    ]
    lines = [*(_describe_move(day, publication, state) for day in moved[:SHOWN_MOVES])]
    if len(moved) > SHOWN_MOVES:
        lines.append(f"and {len(moved) - SHOWN_MOVES} more partitions")
    return TargetMoved(
        f"{publication.table}: {len(moved)} of {len(publication.days)} partitions "
        f"({PartitionSet.of_days(moved)}) no longer hold what publication "
        f"{publication.publication_id} was reviewed against; nothing was changed.\n"
        + "\n".join(f"  - {line}" for line in [*lines, *by_whom])
        + "\nStage the run again on what the target holds now, or plan a new run.",
        days=moved,
        versions=tuple(commit.version for commit in movers),
    )


def version_that_added(target: Path, paths: set[str], *, newest: int) -> int:
    """The version after which all these active files were there; the newest if the log forgot."""
    for version in range(newest, max(newest - LONGEST_WALK, -1), -1):
        commit = read_commit(target, version)
        if commit is None:
            break
        if not paths.isdisjoint(commit.added):
            return version
    return newest


def _movers(
    target: Path, publication: Publication, state: TableState, moved: Iterable[date]
) -> list[Commit]:
    """Newest first. Ends at the reviewed state, or where the log ends."""
    held = {day: {file.path for file in state.files.get(day, ())} for day in moved}
    movers: list[Commit] = []
    for version in range(state.version, max(state.version - LONGEST_WALK, -1), -1):
        commit = read_commit(target, version)
        if commit is None or not held:
            break
        if _undo(commit, held):
            movers.append(commit)
        for day in [day for day in held if fingerprint(held[day]) == publication.base[day]]:
            del held[day]
    return movers


def _undo(commit: Commit, held: dict[date, set[str]]) -> bool:
    """Takes the commit back from what the days hold; whether it touched any of them."""
    added = [(path, day) for path, day in commit.added.items() if day and day in held]
    removed = [(path, day) for path, day in commit.removed.items() if day and day in held]
    for path, day in added:
        held[day].discard(path)
    for path, day in removed:
        held[day].add(path)
    return bool(added or removed)


def _describe_move(day: date, publication: Publication, state: TableState) -> str:
    expected, files = publication.base[day], state.files.get(day, ())
    return (
        f"{day}: expected {_short(expected)}, found {_short(state.fingerprints[day])} "
        f"({len(files)} files, {sum(file.row_count for file in files)} rows)"
    )


def _describe_mover(commit: Commit) -> str:
    at = f" at {commit.committed_at:%Y-%m-%dT%H:%M:%SZ}" if commit.committed_at else ""
    return f"version {commit.version} moved them: {commit.operation} by {commit.author}{at}"


def _short(name: str) -> str:
    return "an empty partition" if name == EMPTY_PARTITION else f"files {name[:SHOWN_DIGITS]}"
