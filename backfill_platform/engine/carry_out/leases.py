"""Keeps a chunk's lease alive while it is being computed, so that a short lease can be long work.

A worker that dies stops renewing, and its chunk is free again within a lease. One that only lost
its lease writes nothing more: the fencing token of its claim is no longer the newest.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from backfill_platform.domain.chunks import ClaimedChunk
from backfill_platform.domain.errors import BackfillError, LostRace
from backfill_platform.domain.identity import RunId
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.renewing import RENEW_SECONDS, renewed

LEASE_SECONDS = 120


@contextmanager
def kept_lease(
    platform: Platform, run_id: RunId, claim: ClaimedChunk, *, renew_seconds: float = RENEW_SECONDS
) -> Iterator[None]:
    def renew() -> bool:
        return _renew_once(platform, run_id, claim)

    with renewed(f"lease of {claim.chunk_id}", renew, renew_seconds):
        yield


def _renew_once(platform: Platform, run_id: RunId, claim: ClaimedChunk) -> bool:
    """Whether it makes sense to try again later."""
    try:
        platform.ledger.renew_lease(
            run_id,
            claim.chunk_id,
            claim.fencing_token,
            lease_seconds=LEASE_SECONDS,
            now=platform.clock(),
        )
    except LostRace:  # staged meanwhile, or claimed by somebody else
        return False
    except BackfillError:  # the ledger is away; the lease has time for more attempts
        return True
    return True
