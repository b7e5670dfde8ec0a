"""Reads a table's deletion list when it is planned, staged and published, and compares.

A run leaves out exactly the subjects that its manifest pins. One who is listed later must not come
back through it either, so at each step a list that has moved ends the run, and a new plan goes on.
"""

from collections.abc import Iterable
from datetime import date

from backfill_platform.domain.errors import GateFailed, ManifestDrifted, PlanRefused
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.privacy import ListedSubjects, PinnedDeletions, Protection
from backfill_platform.domain.tables import TableSpec
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.governance.privacy import moved_list, protect
from backfill_platform.sources.deletions import UnreadableDeletions, read_deletions


def pin_deletions(platform: Platform, spec: TableSpec) -> PinnedDeletions | None:
    """Without the list nothing is planned (test_a_plan_without_its_list_is_refused)."""
    match _read_today(platform, spec):
        case UnreadableDeletions(problem=problem):
            raise PlanRefused((problem,))
        case ListedSubjects() as listed:
            return listed.pinned
        case None:
            return None


def most_left_out(
    platform: Platform, table: str, days: Iterable[date], pinned: PinnedDeletions | None
) -> int:
    """How many subjects of this list the runs left out whose output is accepted on these days."""
    if pinned is None:
        return 0
    runs = {one.run_id for one in platform.ledger.accepted(table, days).values()}
    lists = (load_manifest(platform, run_id).deletions for run_id in sorted(runs))
    return max((one.subjects for one in lists if one and one.name == pinned.name), default=0)


def run_protection(platform: Platform, manifest: Manifest) -> Protection:
    """What a chunk of this run leaves out and masks: by the list of today, which is the pinned
    one, or there is no chunk."""
    spec = platform.catalog.tables[manifest.target.table]
    match _read_today(platform, spec):
        case UnreadableDeletions(problem=problem):
            raise ManifestDrifted(manifest.run_id, (problem,))
        case listed:
            moved = moved_list(manifest.deletions, listed.pinned if listed else None)
            if moved:
                raise ManifestDrifted(manifest.run_id, (moved,))
            return protect(spec, listed)


def moved_deletions(platform: Platform, manifest: Manifest) -> str | None:
    """How the list of today differs from the pinned one, or why that cannot be told."""
    spec = platform.catalog.tables.get(manifest.target.table)
    if spec is None:
        return f"{manifest.target.table} is no longer declared"
    match _read_today(platform, spec):
        case UnreadableDeletions(problem=problem):
            return problem
        case listed:
            return moved_list(manifest.deletions, listed.pinned if listed else None)


def refuse_moved_deletions(platform: Platform, manifest: Manifest) -> None:
    """Right before a commit, and not before what has landed already is told as it landed.

    Invariant: whoever is listed between staging and publication does not come back
    (test_publication_is_refused_when_the_list_has_grown_since_staging)."""
    moved = moved_deletions(platform, manifest)
    if moved:
        raise GateFailed(
            f"Run {manifest.run_id} is not published, because {moved}: its rows could show "
            f"somebody who is to be forgotten. End it (`backfill cancel {manifest.run_id}`) and "
            "plan a new run, which leaves them out"
        )


def _read_today(platform: Platform, spec: TableSpec) -> ListedSubjects | UnreadableDeletions | None:
    name = spec.privacy.deletions
    if name is None:
        return None
    return read_deletions(platform.landing, platform.catalog.deletions[name])
