"""Keeps weeks and months whole for tables that sum them up, wherever a range was cut."""

from backfill_platform.domain.errors import ChunkRefused
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange


def refuse_cut(manifest: Manifest, days: DayRange) -> None:
    target = manifest.target
    whole = days.widen_to(target.boundary)
    if whole != days:
        raise ChunkRefused(
            f"{days} cuts a {target.boundary} of {target.table}, which is computed and published "
            f"by whole ones; ask for {whole}"
        )
