"""In which ways a run is computed again: once as it was, and once as differently as may be.

By its contract a day comes out the same whatever chunk it is computed in, and however its rows lie.
"""

from backfill_platform.domain.errors import StagingIncomplete
from backfill_platform.domain.lifecycle import ChunkStatus
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.reproductions import Way
from backfill_platform.engine.carry_out.boundaries import refuse_cut
from backfill_platform.engine.platform import Platform

_NOT_MEASURED = frozenset({ChunkStatus.CLAIMED, ChunkStatus.REPLACED})


def measured_chunks(
    platform: Platform, manifest: Manifest, asked: PartitionSet | None
) -> tuple[DayRange, ...]:
    """As the run was staged, as far as it is asked for; refuses days that never were measured."""
    chunks = [
        chunk.days
        for chunk in platform.ledger.chunks(manifest.run_id)
        if chunk.checksum is not None and chunk.status not in _NOT_MEASURED
    ]
    measured = PartitionSet.of_days(day for days in chunks for day in days) if chunks else None
    _refuse_unmeasured(manifest, asked, measured)
    if asked is None:
        return tuple(sorted(chunks, key=lambda days: days.start))
    parts = [part for days in chunks for one in asked.ranges if (part := days.clip(one))]
    for part in parts:
        refuse_cut(manifest, part)
    return tuple(sorted(parts, key=lambda days: days.start))


def choose_ways(
    manifest: Manifest,
    chunks: tuple[DayRange, ...],
    *,
    usual_partitions: int,
    chunk_days: int | None,
    partitions: int | None,
) -> tuple[Way, Way]:
    days = PartitionSet.of_days(day for chunk in chunks for day in chunk)
    longest = max(len(chunk) for chunk in chunks)
    length = chunk_days or (max(longest // 2, 1) if longest > 1 else len(days))
    return (
        Way(name="as it was staged", chunks=chunks),
        Way(
            name="cut and spread otherwise",
            chunks=days.split(length, manifest.target.boundary),
            shuffle_partitions=partitions or 2 * usual_partitions + 3,
            spreads_inputs=True,
        ),
    )


def _refuse_unmeasured(
    manifest: Manifest, asked: PartitionSet | None, measured: PartitionSet | None
) -> None:
    if measured is None:
        raise StagingIncomplete(
            f"Nothing of run {manifest.run_id} was ever staged and measured, so there is nothing "
            f"to compare with; `backfill status {manifest.run_id}` says what it waits for"
        )
    missing = [day for day in asked or () if day not in measured]
    if missing:
        raise StagingIncomplete(
            f"Run {manifest.run_id} has measured {measured}, and not "
            f"{PartitionSet.of_days(missing)}; ask for days of those"
        )
