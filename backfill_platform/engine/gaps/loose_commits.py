"""Finds commits in a target's log in which rows moved and which no publication explains. No JVM.

Bounded: of the newest versions, those that the ledger explains are told by one query, and of the
others the newest entries are opened. What was found once is looked at again as long as it lasts, so
nothing is forgotten because other commits follow.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any

from backfill_platform.domain.gaps import NotedGap
from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.delta_log import Commit, read_commit
from backfill_platform.planner.gap_facts import LooseCommit
from backfill_platform.planner.gaps import read_commit_subject

MOST_VERSIONS = 1_000  # that are held against the ledger
MOST_ENTRIES = 20  # that are opened

GONE = "nobody any more: its entry is gone"


def loose_commits(
    platform: Platform, table: str, newest: int | None, noted: Iterable[NotedGap]
) -> tuple[LooseCommit, ...]:
    """The oldest version first; a compaction says of its files that no row of them changed."""
    if newest is None:
        return ()
    known = {read_commit_subject(gap.key): gap for gap in noted}
    asked = {*_unexplained(platform, table, newest), *known}
    found = (_look(platform, table, version, known.get(version)) for version in sorted(asked))
    return tuple(commit for commit in found if commit is not None)


def _unexplained(platform: Platform, table: str, version: int) -> tuple[int, ...]:
    oldest = max(0, version - MOST_VERSIONS + 1)
    landed = platform.ledger.landed_versions(table, at_least=oldest)
    unexplained = [one for one in range(version, oldest - 1, -1) if one not in landed]
    return tuple(unexplained[:MOST_ENTRIES])


def _look(
    platform: Platform, table: str, version: int, noted: NotedGap | None
) -> LooseCommit | None:
    commit = read_commit(platform.warehouse.table_path(table), version)
    if commit is None:
        days = tuple(noted.days) if noted and noted.days else ()
        return LooseCommit(version=version, author=GONE, days=days) if noted else None
    moved_nothing = commit.only_rearranges or not (commit.added or commit.removed)
    if moved_nothing or _is_explained(platform, commit):
        return None
    return LooseCommit(version=version, author=commit.author, days=tuple(_days(commit)))


def _is_explained(platform: Platform, commit: Commit) -> bool:
    """A publication that has landed and is not recorded yet is one that was intended."""
    publication_id = _said(commit.user_metadata).get("publication_id")
    return isinstance(publication_id, str) and platform.ledger.is_intended(publication_id)


def _said(text: str | None) -> dict[str, Any]:
    try:
        said = json.loads(text or "")
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _days(commit: Commit) -> Iterator[date]:
    named = {*commit.added.values(), *commit.removed.values()}
    yield from sorted(day for day in named if day is not None)
