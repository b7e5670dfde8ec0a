"""Claims a chunk, and waits where waiting helps: for a crashed worker's lease, or for a limit."""

from backfill_platform.domain.chunks import ChunkBusy, ChunkDone, ClaimedChunk
from backfill_platform.domain.errors import ChunkRefused
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.carry_out.leases import LEASE_SECONDS
from backfill_platform.engine.carry_out.pacing import wait_while_running
from backfill_platform.engine.platform import Platform

LOOK_AGAIN_SECONDS = 5.0


def claim_chunk(platform: Platform, manifest: Manifest, days: DayRange) -> ClaimedChunk | ChunkDone:
    while isinstance(outcome := _try(platform, manifest, days), ChunkBusy):
        if not outcome.may_become_free:
            raise ChunkRefused(f"{days} of run {manifest.run_id} is not free: {outcome.reason}")
        wait_while_running(platform, manifest.run_id, LOOK_AGAIN_SECONDS)
    return outcome


def _try(
    platform: Platform, manifest: Manifest, days: DayRange
) -> ClaimedChunk | ChunkBusy | ChunkDone:
    return platform.ledger.claim_chunk(
        manifest.run_id,
        days,
        worker=platform.worker,
        lease_seconds=LEASE_SECONDS,
        max_partitions_at_once=manifest.safety.limits.max_partitions_at_once,
        now=platform.clock(),
    )
