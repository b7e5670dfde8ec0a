"""Keeps that a run's staged rows were compared with the accepted ones, and asks for it. No JVM.

What two readers see side by side (DUAL_READ) takes effect only when somebody has looked at how they
differ. The comparing itself is Spark's, in `comparing`.
"""

from collections.abc import Sequence

from backfill_platform.domain.changes import ChangeCount
from backfill_platform.domain.chunks import ChunkRecord
from backfill_platform.domain.comparisons import Comparison, compared_days, name_chunks
from backfill_platform.domain.errors import ApprovalMissing, StagingIncomplete
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import ChunkStatus
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import PublishScope
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.plain import to_plain
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.records import keep_record

_STAGED = frozenset({ChunkStatus.STAGED, ChunkStatus.VALIDATED, ChunkStatus.PUBLISHED})


def staged_chunks(platform: Platform, run_id: RunId) -> tuple[ChunkRecord, ...]:
    found = tuple(one for one in platform.ledger.chunks(run_id) if one.status in _STAGED)
    if not found:
        raise StagingIncomplete(
            f"Nothing of {run_id} is staged yet, so there is nothing to compare; next: "
            f"backfill run {run_id}"
        )
    return found


def record_comparison(
    platform: Platform,
    manifest: Manifest,
    chunks: Sequence[ChunkRecord],
    changes: Sequence[ChangeCount],
    *,
    dimension: str,
) -> bool:
    """Of chunks as they stood before they were compared: one that was staged again meanwhile does
    not count. Whether it was kept: of what is published already nothing follows from it."""
    comparison = Comparison(
        run_id=manifest.run_id,
        actor=platform.worker,
        chunks=name_chunks(chunks),
        added=sum(one.added for one in changes),
        removed=sum(one.removed for one in changes),
        changed=sum(one.changed for one in changes),
        unchanged=sum(one.unchanged for one in changes),
    )
    if not platform.ledger.record_comparison(comparison, now=platform.clock()):
        return False
    body = {
        "days": str(PartitionSet.of_days(day for chunk in chunks for day in chunk.days)),
        "base_version": manifest.target.base_version,
        "dimension": dimension,
        "changes": [to_plain(change) for change in changes],
    }
    key = f"comparison:{platform.clock().isoformat()}"
    keep_record(platform, manifest.run_id, "comparison", key=key, body=body)
    return True


def refuse_uncompared(platform: Platform, manifest: Manifest) -> None:
    """Invariant: what both can be read is published only after every day of it was compared
    (test_a_dual_read_is_published_only_when_every_day_was_compared)."""
    if manifest.target.publish_scope is not PublishScope.DUAL_READ:
        return
    run_id = manifest.run_id
    seen = compared_days(platform.ledger.events(run_id), platform.ledger.chunks(run_id))
    left = [day for day in manifest.target.partitions if day not in seen]
    if left:
        raise ApprovalMissing(
            f"Nobody has compared {PartitionSet.of_days(left)} of run {run_id} as it is staged "
            f"now, and it takes effect only after that (DUAL_READ): `backfill compare {run_id}`, "
            f"then `backfill publish {run_id}`"
        )
