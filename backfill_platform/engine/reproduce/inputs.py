"""Whether a finished run's inputs can still be read as they were pinned.

A log remembers a version longer than VACUUM leaves its files: what was replaced since may be gone.
"""

from collections.abc import Iterator

from backfill_platform.domain.manifests import InputType, Manifest
from backfill_platform.domain.modes import PublishMode
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.engine.plan.inputs import moved_inputs
from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.former_files import former_state
from backfill_platform.lakehouse.removal import still_there


def lost_inputs(platform: Platform, manifest: Manifest) -> tuple[str, ...]:
    """As sentences; what the log no longer knows first, then files that are gone."""
    moved = moved_inputs(platform, manifest)
    return moved or tuple(
        sentence
        for table, version, days in _read_tables(manifest)
        if (sentence := _gone(platform, table, version, days))
    )


def _read_tables(manifest: Manifest) -> Iterator[tuple[str, int, PartitionSet]]:
    for pinned in manifest.inputs:
        if pinned.type is InputType.TABLE:
            yield pinned.name, int(pinned.snapshot), PartitionSet.of_range(pinned.days)
    target = manifest.target
    is_read = target.publish_mode is PublishMode.MERGE_BY_KEY and target.base
    if is_read and target.base_version is not None:
        yield target.table, target.base_version, PartitionSet.of_days(target.base)


def _gone(platform: Platform, table: str, version: int, days: PartitionSet) -> str | None:
    path = platform.warehouse.table_path(table)
    state = former_state(path, version, days)
    if state is None:
        return f"version {version} of {table} can no longer be read"
    by_day = {day: [file.path for file in files] for day, files in state.files.items()}
    lost = [day for day, files in by_day.items() if len(still_there(path, files)) < len(files)]
    if not lost:
        return None
    return (
        f"version {version} of {table} has lost files of {PartitionSet.of_days(lost)}: they were "
        "replaced since, and have been removed"
    )
