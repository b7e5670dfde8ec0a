"""Holds a fence over what a run publishes, from before it looks at the target until it has ended.

Live writers give way to whoever holds one where their table's policy is FREEZE. Under the other
policies live runs and the rest publish beside each other: who comes second finds the base moved,
and is planned again. Everybody else takes a newer token. A holder that dies leaves a lease that
ends by itself, and one that only lost its lease is told so right before its commit. A writer who
knows nothing of fences is still caught: the publisher commits only on what was reviewed.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta

from backfill_platform.domain.errors import BackfillError, PartitionsFenced
from backfill_platform.domain.fences import Fence
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import ExecutionMode, LiveConflicts
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.engine.deletions import refuse_moved_deletions
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.renewing import RENEW_SECONDS, renewed

LEASE_SECONDS = 120


class Guard:
    """What the publisher calls right before a commit; raises where the fence holds no longer, or
    where somebody who is to be forgotten was listed since the rows were staged.

    Invariant: nothing is committed under a fence that has ended or was overtaken
    (test_a_run_whose_fence_was_overtaken_commits_nothing).
    """

    def __init__(self, platform: Platform, manifest: Manifest, fence: Fence) -> None:
        self._platform = platform
        self._manifest = manifest
        self._fence = fence
        self.has_let_commit = False

    def __call__(self) -> None:
        refuse_moved_deletions(self._platform, self._manifest)
        self._platform.ledger.refuse_stale(self._fence, now=self._platform.clock())
        self.has_let_commit = True


@contextmanager
def fenced(
    platform: Platform,
    manifest: Manifest,
    days: PartitionSet,
    *,
    renew_seconds: float = RENEW_SECONDS,
) -> Iterator[Guard]:
    """Raises `PartitionsFenced` where the run has to give way; nothing was changed then."""
    fence = platform.ledger.acquire_fence(
        manifest.run_id,
        manifest.target.table,
        days,
        gives_way=_gives_way(manifest),
        lease_seconds=LEASE_SECONDS,
        now=platform.clock(),
    )
    guard, frozen_until = Guard(platform, manifest, fence), None
    try:
        with renewed(f"fence {fence.token}", lambda: _renew_once(platform, fence), renew_seconds):
            yield guard
        if guard.has_let_commit:
            frozen_until = _frozen_until(platform, manifest)
    finally:
        with suppress(BackfillError):  # what is not released ends with its lease
            platform.ledger.release_fence(fence, now=platform.clock(), frozen_until=frozen_until)


def _gives_way(manifest: Manifest) -> bool:
    is_frozen_out = manifest.target.live_conflicts is LiveConflicts.FREEZE
    return is_frozen_out and manifest.mode is ExecutionMode.LIVE


def _renew_once(platform: Platform, fence: Fence) -> bool:
    """Whether it makes sense to try again later."""
    try:
        platform.ledger.renew_fence(fence, lease_seconds=LEASE_SECONDS, now=platform.clock())
    except PartitionsFenced:
        return False
    except BackfillError:  # the ledger is away; the lease has time for more attempts
        return True
    return True


def _frozen_until(platform: Platform, manifest: Manifest) -> datetime | None:
    """A live run that has published freezes nobody out."""
    minutes = platform.catalog.tables[manifest.target.table].frozen_minutes
    if minutes == 0 or manifest.mode is ExecutionMode.LIVE:
        return None
    return platform.clock() + timedelta(minutes=minutes)
