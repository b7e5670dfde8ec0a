"""What a manifest forbids to compute or publish as ordinary chunks, wherever a range was cut."""

from backfill_platform.domain.errors import ChunkRefused
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange


def refuse_rollback(manifest: Manifest) -> None:
    """It returns files that are there: there is nothing to compute, and no staging to publish."""
    if manifest.undoes is not None:
        raise ChunkRefused(
            f"Run {manifest.run_id} takes back {manifest.undoes.run_id} and has no chunks; carry "
            f"it out with `backfill rollback {manifest.undoes.run_id} --confirm`"
        )


def refuse_cut(manifest: Manifest, days: DayRange) -> None:
    target = manifest.target
    whole = days.widen_to(target.boundary)
    if whole != days:
        raise ChunkRefused(
            f"{days} cuts a {target.boundary} of {target.table}, which is computed and published "
            f"by whole ones; ask for {whole}"
        )
