"""What the scope of a run forbids to publish, and to launch: a candidate, and parts of a whole.

Looked at in the first seconds of a launch, and again by whoever publishes.
"""

from backfill_platform.domain.errors import ChunkRefused, GateFailed
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import PublishScope
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.engine.platform import Platform


def refuse_never_published(platform: Platform, manifest: Manifest) -> None:
    run_id, target = manifest.run_id, manifest.target
    if target.publish_scope is PublishScope.DARK:
        path = platform.warehouse.staging_path(target.table, run_id)
        raise GateFailed(
            f"Run {run_id} is a candidate (DARK) and is never published; read it at {path}. To "
            f"publish these days, plan them with another scope: `backfill plan {target.table} "
            f'--days "{target.partitions}" --publish-scope whole-run --replaces {run_id}`'
        )
    if manifest.never_publishes:
        raise GateFailed(f"Run {run_id} is a {manifest.mode}; it never publishes")


def refuse_part(manifest: Manifest, days: PartitionSet) -> None:
    """Invariant: a run that becomes visible at once is published whole or not at all
    (test_a_part_of_a_whole_run_is_refused_with_what_is_missing)."""
    missing = _missing(manifest, days)
    if missing is not None:
        raise ChunkRefused(
            f"Run {manifest.run_id} becomes visible at once ({manifest.target.publish_scope}), and "
            f"{days} leaves out {missing}; publish all of it: `backfill publish {manifest.run_id}`"
        )


def refuse_split_launch(manifest: Manifest, chunk: DayRange) -> None:
    """In the first seconds, and not when an earlier part comes to its publication."""
    missing = _missing(manifest, PartitionSet.of_range(chunk))
    if missing is None:
        return
    run_id, target = manifest.run_id, manifest.target
    raise ChunkRefused(
        f"Run {run_id} is planned and becomes visible at once ({target.publish_scope}), and this "
        f"Dagster run is about {chunk} alone, without {missing}. Launch the staging asset alone "
        f"with the tag `backfill/run: {run_id}`, then `backfill publish {run_id}`; or declare "
        f"`publish_scope` on {target.table}, whose contiguous ranges are then launched as one "
        "Dagster run"
    )


def _missing(manifest: Manifest, days: PartitionSet) -> PartitionSet | None:
    target = manifest.target
    left = [day for day in target.partitions if day not in days]
    is_part = target.publish_scope.is_at_once and left
    return PartitionSet.of_days(left) if is_part else None
