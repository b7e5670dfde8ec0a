"""Finds out what moved in a target since a run was reviewed, in which versions, and by whom.

A refusal that only says "conflict" helps nobody. The log is walked back from the newest version,
undoing each commit, until the moved partitions hold what was reviewed; the commits on that way that
touched them are the movers. Whether they changed a row is judged in `compaction`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Movements:
    by_day: Mapping[date, tuple[Commit, ...]]  # those that touched it, the newest first
    unexplained: frozenset[date]  # the log does not reach back to what was reviewed

    @property
    def commits(self) -> list[Commit]:
        """All of them, the newest first."""
        every = {commit.version: commit for commits in self.by_day.values() for commit in commits}
        return [every[version] for version in sorted(every, reverse=True)]


def moved_days(publication: Publication, state: TableState) -> tuple[date, ...]:
    """The days that hold something else than what the run was reviewed against."""
    found = state.fingerprints
    return tuple(day for day in publication.days if found[day] != publication.base[day])


def find_movements(
    target: Path, state: TableState, base: Mapping[date, str], moved: Iterable[date]
) -> Movements:
    """How the moved days came from their base to what they hold in `state`."""
    held = {day: _held(state, day) for day in moved}
    by_day: dict[date, list[Commit]] = {day: [] for day in held}
    for version in range(state.version, max(state.version - LONGEST_WALK, -1), -1):
        commit = read_commit(target, version)
        if commit is None or not held:
            break
        for day in _undo(commit, state, held):
            by_day[day].append(commit)
        for day in [day for day in held if fingerprint(state.seen_of(held[day])) == base[day]]:
            del held[day]
    return Movements(
        by_day={day: tuple(commits) for day, commits in by_day.items()},
        unexplained=frozenset(held),
    )


def target_moved(
    publication: Publication, state: TableState, movements: Movements, moved: tuple[date, ...]
) -> TargetMoved:
    movers = [
        commit
        for commit in movements.commits
        if any(commit in movements.by_day[day] for day in moved)
    ]
    lines = [_describe_move(day, publication, state) for day in moved[:SHOWN_MOVES]]
    if len(moved) > SHOWN_MOVES:
        lines.append(f"and {len(moved) - SHOWN_MOVES} more partitions")
    by_whom = [_describe_mover(commit) for commit in movers] or [
        "the versions that moved them are no longer in the log"
    ]
    days = PartitionSet.of_days(moved)
    return TargetMoved(
        f"{publication.table}: {len(moved)} of {len(publication.days)} partitions ({days}) no "
        f"longer hold what publication {publication.publication_id} was reviewed against; nothing "
        "was changed.\n"
        + "\n".join(f"  - {line}" for line in [*lines, *by_whom])
        + f"\n{_offer(publication)}",
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


def _held(state: TableState, day: date) -> dict[str, str | None]:
    """Also what is not seen: it may have been, before the commits that are undone."""
    files = (*state.files.get(day, ()), *state.others.get(day, ()))
    return {file.path: file.output_version for file in files}


def _undo(
    commit: Commit, state: TableState, held: dict[date, dict[str, str | None]]
) -> frozenset[date]:
    """Takes the commit back from what the days hold; of which of them it changed what is seen."""
    added = [(path, day) for path, day in commit.added.items() if day and day in held]
    removed = [(path, day) for path, day in commit.removed.items() if day and day in held]
    touched = frozenset(day for _, day in (*added, *removed))
    after = {day: state.seen_of(held[day]) for day in touched}
    for path, day in added:
        held[day].pop(path, None)
    for path, day in removed:
        held[day][path] = commit.output_versions.get(path)
    return frozenset(day for day in touched if state.seen_of(held[day]) != after[day])


def _offer(publication: Publication) -> str:
    """A manifest pins its base, so what was reviewed cannot be reviewed again under its name."""
    known = publication.commit_info
    if known.get("undoes"):
        return (
            f"Look at what these days hold now (`backfill history {publication.table} --day DAY`), "
            f"then plan the rollback again: `backfill rollback {known['undoes']}`."
        )
    run = known.get("run_id", "RUN")
    days = PartitionSet.of_days(publication.days)
    return (
        f"Look at what these days hold now (`backfill history {publication.table} --day DAY`). To "
        f"stage and compare again on that: `backfill plan {publication.table} --days "
        f'"{days}" --replaces {run}`, then `backfill compare` of the new run.'
    )


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
