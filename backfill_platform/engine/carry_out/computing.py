"""What a chunk's days come out as: the transform's rows, rounded, protected, traced and merged.

Nothing is written here, so what is staged and what is computed again to be compared with it are one
computation.
"""

from dataclasses import dataclass

from pyspark.sql import DataFrame

from backfill_platform.domain.determinism import round_floats
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.privacy import Protection
from backfill_platform.domain.transforms import Computed, Frames, TransformVersion
from backfill_platform.engine.platform import Platform
from backfill_platform.executor.merging import Merged, merge_by_key
from backfill_platform.executor.protecting import protect_rows
from backfill_platform.executor.staging import (
    chunk_context,
    compute_chunk,
    rounded,
    with_lineage,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputedDays:
    computed: Computed  # as the transform gave it
    rows: DataFrame  # as they are staged
    merged: Merged | None  # where the table is published by a keyed merge


def compute_days(
    platform: Platform,
    manifest: Manifest,
    transform: TransformVersion,
    days: DayRange,
    frames: Frames,
    protection: Protection,
) -> ComputedDays:
    """`frames` are protected already."""
    table = manifest.target.table
    computed = compute_chunk(
        transform.function,
        frames,
        chunk_context(manifest, days),
        platform.catalog.contracts[table],
    )
    exact = rounded(computed.rows, round_floats(platform.catalog.tables[table]))
    changes = with_lineage(protect_rows(exact, protection), manifest)
    merged = _merge(platform, table, changes, frames)
    rows = changes if merged is None else merged.rows
    return ComputedDays(computed=computed, rows=rows, merged=merged)


def _merge(platform: Platform, table: str, changes: DataFrame, frames: Frames) -> Merged | None:
    """Each row has its lineage by now: what stays as it is keeps that of the run it came from."""
    spec = platform.catalog.tables[table]
    if spec.merge is None:
        return None
    return merge_by_key(
        frames.base.select(*changes.columns),
        changes,
        keys=spec.keys,
        content=platform.catalog.contracts[table].column_names,
        rule=spec.merge,
    )
