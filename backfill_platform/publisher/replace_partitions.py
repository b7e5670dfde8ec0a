"""Replaces partitions by files that lie below the target: readers see all of them at once, or none.

The files already lie where they will stay, so this moves metadata only. `publish` is for what a run
has staged; `publish_files` is the one primitive below it and below `return_partitions`. It decides
whether the publication may still be made, and tries until it landed, is refused, or lost too many
races. What may be added is decided in `staged_files`, who moved a target is found in `movements`,
whether they changed a row in `compaction`, and `commit` writes the one log entry. Verdicts and
approvals are the engine's to check, before it comes here; the ledger is told by it, afterwards.
"""

from collections.abc import Callable
from pathlib import Path

from deltalake import DeltaTable
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from backfill_platform.domain.errors import EngineUnavailable, LostRace, TargetMoved
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.publications import (
    AlreadyPublished,
    Compaction,
    Publication,
    PublicationOutcome,
    Published,
)
from backfill_platform.lakehouse.delta_files import TableState
from backfill_platform.lakehouse.delta_tables import (
    landed_version,
    open_table,
    published_version,
    state_of,
)
from backfill_platform.publisher.commit import commit_replacement
from backfill_platform.publisher.compaction import find_compaction
from backfill_platform.publisher.movements import (
    find_movements,
    moved_days,
    target_moved,
    version_that_added,
)
from backfill_platform.publisher.new_columns import columns_after
from backfill_platform.publisher.output_versions import count_replaced, refuse_unseen
from backfill_platform.publisher.staged_files import (
    check_staged_files,
    paths_in_target,
    refuse_staging_elsewhere,
)
from backfill_platform.publisher.whole_table import refuse_other_days

MAX_ATTEMPTS = 40  # every commit by anybody costs one; the pauses add up to about half a minute
FIRST_PAUSE_SECONDS = 0.02
LONGEST_PAUSE_SECONDS = 1.0

BeforeCommit = Callable[[], None]  # raises when this caller may not commit any more
LookAt = Callable[[DeltaTable], None]  # raises when this caller may not change such a table


def unguarded() -> None:
    """Where nobody keeps fences."""


def nothing_more(_table: DeltaTable) -> None:
    """Where the base of the partitions says enough."""


def publish(
    target: Path,
    staging: Path,
    publication: Publication,
    *,
    before_commit: BeforeCommit = unguarded,
    max_attempts: int = MAX_ATTEMPTS,
) -> PublicationOutcome:
    """Replaces exactly `publication.days` of `target` by the staged files, in one commit."""
    refuse_staging_elsewhere(target, staging, publication)
    return publish_files(
        target, staging, publication, before_commit=before_commit, max_attempts=max_attempts
    )


def publish_files(
    target: Path,
    source: Path,
    publication: Publication,
    *,
    before_commit: BeforeCommit = unguarded,
    look_at: LookAt = nothing_more,
    max_attempts: int = MAX_ATTEMPTS,
) -> PublicationOutcome:
    """`source` is the table that the files' paths begin at: staging, or the target itself.

    `look_at` is given, in each attempt, the very table that the commit is a compare-and-swap on;
    `before_commit` is asked as the last thing before the log is written. Raises
    `TargetMoved` when a day no longer holds what was reviewed, `StagingIncomplete` when a file is
    not what its log says, and `LostRace` when other writers won every attempt.

    Invariant: readers see the target before or after a publication, never in between
    (test_readers_see_before_or_after_and_nothing_else).
    """
    _check_scope(publication)
    retrying = Retrying(
        retry=retry_if_exception_type(LostRace),
        stop=stop_after_attempt(max_attempts),
        wait=wait_random_exponential(multiplier=FIRST_PAUSE_SECONDS, max=LONGEST_PAUSE_SECONDS),
        reraise=True,
    )
    return retrying(
        lambda: _attempt(target, source, publication, look_at, before_commit, _number(retrying))
    )


def _attempt(
    target: Path,
    source: Path,
    publication: Publication,
    look_at: LookAt,
    before_commit: BeforeCommit,
    number: int,
) -> PublicationOutcome:
    table = _open_target(target, publication)
    state = state_of(table, target, PartitionSet.of_days(publication.days))
    landed = _landed(table, target, source, publication, state)
    if landed is not None:
        return AlreadyPublished(version=landed)
    refuse_other_days(table, target, publication)
    compaction = _check_base(target, publication, state)
    refuse_unseen(publication, state)
    look_at(table)
    columns = columns_after(publication, state)
    adds = check_staged_files(target, source, publication, columns=columns)
    before_commit()
    try:
        version = commit_replacement(table, target, publication, adds, compaction=compaction)
    except EngineUnavailable:
        # The commit may have landed before the failure; only the log knows.
        version = published_version(target, publication.publication_id)
        if version is None:
            raise
    return Published(
        version=version,
        row_count=sum(file.row_count for file in publication.files),
        files_added=len(publication.files),
        files_removed=count_replaced(publication, state),
        attempts=number,
        compaction=compaction,
    )


def _check_scope(publication: Publication) -> None:
    """An empty filter would be the caller's mistake, and a day without base an unreviewed one."""
    if not publication.days:
        raise ValueError(f"publication {publication.publication_id} names no day")
    if set(publication.base) != set(publication.days):
        raise ValueError(
            f"publication {publication.publication_id} must name the base of exactly its days"
        )


def _open_target(target: Path, publication: Publication) -> DeltaTable:
    table = open_table(target)
    if table is None:
        raise TargetMoved(
            f"{publication.table}: there is no Delta table at {target}; "
            "create the target and plan a new run",
            days=publication.days,
        )
    return table


def _landed(
    table: DeltaTable, target: Path, source: Path, publication: Publication, state: TableState
) -> int | None:
    """Invariant: publishing twice equals publishing once
    (test_the_second_publication_changes_nothing).

    The files are looked at too: a repeated commit would add and remove the same paths, and Spark
    would then show an empty partition where delta-rs shows rows.
    """
    landed = landed_version(table, target, publication.publication_id)
    if landed is not None:
        return landed
    own = paths_in_target(target, source, publication)
    held = (*state.files.values(), *state.others.values())
    active = own & {file.path for files in held for file in files}
    if not active:
        return None
    if active == own:
        return version_that_added(target, active, newest=state.version)
    raise TargetMoved(
        f"{publication.table}: {len(active)} of {len(own)} staged files are already published; "
        "publish only the days that are not",
        days=publication.days,
    )


def _check_base(target: Path, publication: Publication, state: TableState) -> Compaction | None:
    """Invariant: a publication changes only the partitions that it names, and only if they still
    hold what was reviewed (test_an_append_after_the_review_is_refused_and_not_merged).

    The same rows in other files are what was reviewed. The commit removes the files of this very
    version, whichever they are, so the compare-and-swap stays exact.
    """
    moved = moved_days(publication, state)
    if not moved:
        return None
    movements = find_movements(target, state, publication.base, moved)
    compaction = find_compaction(target, movements, version=state.version)
    seen_through = set(compaction.days) if compaction else set()
    changed = tuple(day for day in moved if day not in seen_through)
    if changed:
        raise target_moved(publication, state, movements, changed)
    return compaction


def _number(retrying: Retrying) -> int:
    return int(retrying.statistics["attempt_number"])
