"""Decides what a publication may change where a table keeps every version of its output.

Only files of the publication's own version are added and removed; the others stay, and the latest
of them is what consumers see. So a commit may land and change nothing for anybody, or bring
something to light that nobody has looked at: both are refused here.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path

from deltalake import DeltaTable

from backfill_platform.domain.errors import StagingIncomplete, TargetMoved
from backfill_platform.domain.modes import VersionColumn
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.publications import Publication
from backfill_platform.lakehouse.delta_files import TableState
from backfill_platform.lakehouse.delta_tables import state_of
from backfill_platform.publisher.compaction import find_compaction
from backfill_platform.publisher.movements import find_movements, target_moved

PartitionFilter = tuple[str, str, str | list[str]]


def partitioned_by(publication: Publication) -> list[str]:
    version = publication.version_column
    return [publication.partition_column, *([version.value] if version else [])]


def replaced_partitions(publication: Publication) -> list[PartitionFilter]:
    """What the commit removes all files of."""
    days = [str(day) for day in publication.days]
    filters: list[PartitionFilter] = [(publication.partition_column, "in", days)]
    if publication.version_column and publication.output_version:
        filters.append((publication.version_column.value, "=", publication.output_version))
    return filters


def count_replaced(publication: Publication, state: TableState) -> int:
    return sum(
        file.output_version == publication.output_version
        for files in state.files.values()
        for file in files
    )


def refuse_unseen(publication: Publication, state: TableState) -> None:
    """Invariant: what a publication makes of a day is what consumers see of it from then on
    (test_a_version_that_would_not_be_seen_is_refused)."""
    if state.version_column is not publication.version_column:
        raise TargetMoved(
            f"{publication.table}: it is partitioned by "
            f"{[state.partition_column, *([state.version_column] if state.version_column else [])]}"
            f" and not by {partitioned_by(publication)}; plan a new run",
            days=publication.days,
        )
    column, version = publication.version_column, publication.output_version
    if column is None:
        return
    if version is None:
        raise ValueError(f"publication {publication.publication_id} names no output version")
    hidden = [day for day in publication.days if _is_hidden(publication, state, column, day)]
    if hidden:
        raise StagingIncomplete(
            f"{publication.table}: version {version} of {PartitionSet.of_days(hidden)} would not be"
            f" seen, because these days show version {state.output_versions[hidden[0]]}, and the "
            "latest that has rows is what is seen (a version without rows leaves no trace). "
            "Nothing was changed. Roll that version back first, or stage rows"
        )


def refuse_brought_to_light(
    table: DeltaTable, target: Path, publication: Publication, expected: Mapping[date, str]
) -> None:
    """Where a version is taken away, the one below it has to be what was seen before it came,
    though perhaps in compacted files."""
    column, version = publication.version_column, publication.output_version
    uncovered = expected.keys() - {file.day for file in publication.files}
    if column is None or version is None or not uncovered:
        return
    below = column.of_rank(column.rank(version) - 1)
    state = state_of(table, target, PartitionSet.of_days(uncovered), up_to=below)
    moved = [day for day in state.days if state.fingerprints[day] != expected[day]]
    movements = find_movements(target, state, expected, moved)
    compaction = find_compaction(target, movements, version=state.version, up_to=below)
    kept = set(compaction.days) if compaction else set[date]()
    changed = tuple(day for day in moved if day not in kept)
    if changed:
        raise target_moved(
            replace(publication, base={**publication.base, **expected}), state, movements, changed
        )


def _is_hidden(
    publication: Publication, state: TableState, column: VersionColumn, day: date
) -> bool:
    """A later version covers what it adds, or nothing is added over what is there."""
    seen, version = state.output_versions.get(day), publication.output_version
    if seen is None or version is None:
        return False
    has_rows = any(file.day == day for file in publication.files)
    return column.rank(seen) > column.rank(version) or (not has_rows and seen != version)
