"""Keeps that a run's staged rows were compared with the accepted ones, and asks for it. No JVM.

What two readers see side by side (DUAL_READ) takes effect only when somebody has looked at how they
differ. The comparing itself is Spark's, in `comparing`; what was found can be read again here.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from backfill_platform.domain.changes import RunDifferences
from backfill_platform.domain.chunks import ChunkRecord
from backfill_platform.domain.comparisons import Comparison, compared_days, name_chunks
from backfill_platform.domain.errors import (
    ApprovalMissing,
    EngineUnavailable,
    PrivacyRefused,
    StagingIncomplete,
)
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import ChunkStatus
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import PublishScope
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.plain import from_plain, to_plain
from backfill_platform.domain.tables import TableSpec
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.records import bundle, keep_record
from backfill_platform.governance.privacy import private_columns
from backfill_platform.lakehouse.rows import newest_version

_KIND = "comparison"
_STAGED = frozenset({ChunkStatus.STAGED, ChunkStatus.VALIDATED, ChunkStatus.PUBLISHED})


def staged_chunks(platform: Platform, run_id: RunId) -> tuple[ChunkRecord, ...]:
    found = tuple(one for one in platform.ledger.chunks(run_id) if one.status in _STAGED)
    if not found:
        raise StagingIncomplete(
            f"Nothing of {run_id} is staged yet, so there is nothing to compare; next: "
            f"backfill run {run_id}"
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptComparison:
    differences: RunDifferences
    path: Path  # of the Delta table with the rows that differ
    version: int  # of that table, as this comparison left it
    is_recorded: bool  # not of a run that is published already


def refuse_private(
    spec: TableSpec, dimensions: Collection[str], watched: Collection[Mapping[str, str]]
) -> None:
    """The figures stay in the evidence, and each names a value of what they are counted by."""
    asked = (*dimensions, *(column for key in watched for column in key))
    private = sorted(private_columns(spec).intersection(asked))
    if private:
        raise PrivacyRefused(
            f"{private[0]} of {spec.full_name} is private, and a comparison by it would keep its "
            f"values in the evidence; compare by other columns, such as {spec.partition_column}"
        )


def keep_comparison(
    platform: Platform,
    manifest: Manifest,
    chunks: Sequence[ChunkRecord],
    differences: RunDifferences,
) -> KeptComparison:
    """Once its table is written: the record names the version that it left there."""
    path = platform.warehouse.diff_path(manifest.target.table, manifest.run_id)
    version = newest_version(path)
    if version is None:
        raise EngineUnavailable(
            f"{path}: what run {manifest.run_id} would change was written there and is gone; check "
            f"the storage, then `backfill compare {manifest.run_id}` again"
        )
    kept = KeptComparison(differences=differences, path=path, version=version, is_recorded=True)
    is_recorded = record_comparison(platform, manifest, chunks, kept)
    return replace(kept, is_recorded=is_recorded)


def record_comparison(
    platform: Platform, manifest: Manifest, chunks: Sequence[ChunkRecord], kept: KeptComparison
) -> bool:
    """Of chunks as they stood before they were compared: one that was staged again meanwhile does
    not count. Whether it was kept: of what is published already nothing follows from it."""
    differences, totals = kept.differences, kept.differences.found.totals
    comparison = Comparison(
        run_id=manifest.run_id,
        actor=platform.worker,
        chunks=name_chunks(chunks),
        added=totals.added,
        removed=totals.removed,
        changed=totals.changed,
        unchanged=differences.unchanged_rows,
        summary_digest=differences.digest,
    )
    now = platform.clock()
    if not platform.ledger.record_comparison(comparison, now=now):
        return False
    body = {
        "days": str(differences.days),
        "base_version": differences.base_version,
        "summary": to_plain(differences),
        "summary_digest": differences.digest,
        "table": {"path": str(kept.path), "version": kept.version},
    }
    key = f"{_KIND}:{now.isoformat()}"
    keep_record(platform, manifest.run_id, _KIND, key=key, body=body)
    return True


def newest_comparison(platform: Platform, run_id: RunId) -> KeptComparison:
    """As it was kept; evidence of before there were details is passed over."""
    records = bundle(platform, run_id).records()
    bodies = [one.body for one in records if one.kind == _KIND and "summary" in one.body]
    if not bodies:
        raise StagingIncomplete(
            f"No comparison of run {run_id} is kept: `backfill compare {run_id}` makes one"
        )
    differences = from_plain(RunDifferences, bodies[-1]["summary"])
    return KeptComparison(
        differences=differences,
        path=platform.warehouse.diff_path(differences.table, run_id),
        version=bodies[-1]["table"]["version"],
        is_recorded=True,
    )


def uncompared_days(platform: Platform, manifest: Manifest) -> PartitionSet | None:
    """Of the run's days, as they are staged now."""
    run_id = manifest.run_id
    seen = compared_days(platform.ledger.events(run_id), platform.ledger.chunks(run_id))
    left = [day for day in manifest.target.partitions if day not in seen]
    return PartitionSet.of_days(left) if left else None


def refuse_uncompared(platform: Platform, manifest: Manifest) -> None:
    """Invariant: what both can be read is published only after every day of it was compared
    (test_a_dual_read_is_published_only_when_every_day_was_compared)."""
    if manifest.target.publish_scope is not PublishScope.DUAL_READ:
        return
    run_id, left = manifest.run_id, uncompared_days(platform, manifest)
    if left:
        raise ApprovalMissing(
            f"Nobody has compared {left} of run {run_id} as it is staged "
            f"now, and it takes effect only after that (DUAL_READ): `backfill compare {run_id}`, "
            f"then `backfill publish {run_id}`"
        )
