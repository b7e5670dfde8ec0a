"""How a planned run is carried out by Dagster: one request for each chunk, or range, that is left.

What is done already is not asked for again, so a request may be made at any time of a run's life.
The key of a request names the attempt: asked for twice it is one Dagster run, and a chunk whose
worker died is asked for anew.
"""

from collections.abc import Iterator, Sequence
from datetime import date

import dagster as dg

from backfill_platform.domain.chunks import ChunkRecord
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import ChunkStatus
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import RunKind
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.tables import TableSpec
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.keys import staging_key, table_key

LIVE_PRIORITY, PUBLISHING_PRIORITY, USUAL_PRIORITY = 10, 5, 0

_JUDGED = frozenset({ChunkStatus.VALIDATED, ChunkStatus.PUBLISHED})


def requests_of(
    platform: Platform, run_id: RunId, *, publishes: bool, stages: bool = True, ended: int = 0
) -> list[dg.RunRequest]:
    """`ended` counts the Dagster runs that have ended without bringing it here.

    What becomes visible at once and lies in several ranges is only staged: no single Dagster run
    could publish it in the same launch.
    """
    manifest = load_manifest(platform, run_id)
    chunks = platform.ledger.chunks(run_id)
    is_at_once = manifest.target.publish_scope.is_at_once
    if stages and publishes and is_at_once and len(manifest.target.partitions.ranges) > 1:
        publishes = False
    parts = _parts(manifest, chunks, publishes=publishes, stages=stages)
    spec = platform.catalog.tables[manifest.target.table]
    selection = [
        *([staging_key(spec)] if stages else ()),
        *([table_key(spec.full_name)] if publishes else ()),
    ]
    return [
        dg.RunRequest(
            run_key=_key(run_id, part, chunks, publishes=publishes, stages=stages, ended=ended),
            asset_selection=selection,
            tags=_tags(manifest, part, publishes=publishes, stages=stages),
        )
        for part in parts
    ]


def launch_tags(kind: RunKind, days: DayRange) -> dict[str, str]:
    """What every request says, whether its run is planned already or not."""
    priority = LIVE_PRIORITY if kind is RunKind.LIVE else USUAL_PRIORITY
    return {
        tags.KIND: kind.value,
        tags.PRIORITY: str(priority),
        tags.RANGE_START: days.start.isoformat(),
        tags.RANGE_END: days.last.isoformat(),
    }


def keys_of(spec: TableSpec) -> tuple[dg.AssetKey, dg.AssetKey]:
    return staging_key(spec), table_key(spec.full_name)


def _parts(
    manifest: Manifest, chunks: Sequence[ChunkRecord], *, publishes: bool, stages: bool
) -> tuple[DayRange, ...]:
    done = {ChunkStatus.PUBLISHED} if publishes else _JUDGED
    settled = {day for chunk in chunks if chunk.status in done for day in chunk.days}
    is_at_once = manifest.target.publish_scope.is_at_once
    if publishes and (is_at_once or not stages):
        return tuple(
            days for days in manifest.target.partitions.ranges if not settled.issuperset(days)
        )
    return tuple(sorted(_left(manifest, chunks, settled)))


def _left(
    manifest: Manifest, chunks: Sequence[ChunkRecord], settled: set[date]
) -> Iterator[DayRange]:
    """As it was cut by whoever began it, and what nobody has begun as the manifest cuts."""
    standing = [chunk for chunk in chunks if chunk.status is not ChunkStatus.REPLACED]
    yield from (chunk.days for chunk in standing if not settled.issuperset(chunk.days))
    begun = {day for chunk in standing for day in chunk.days}
    left = [day for day in manifest.target.partitions if day not in begun]
    if left:
        target = manifest.target
        yield from PartitionSet.of_days(left).split(manifest.chunk_days, target.boundary)


def _tags(manifest: Manifest, part: DayRange, *, publishes: bool, stages: bool) -> dict[str, str]:
    said = {
        tags.RUN: manifest.run_id,
        tags.GROUP: manifest.group_id,
        **launch_tags(manifest.kind, part),
    }
    if not stages and manifest.kind is not RunKind.LIVE:
        said[tags.PRIORITY] = str(PUBLISHING_PRIORITY)
    if publishes and manifest.target.publish_scope.is_at_once:
        said[tags.DAYS] = str(manifest.target.partitions)
    return said


def _key(
    run_id: RunId,
    part: DayRange,
    chunks: Sequence[ChunkRecord],
    *,
    publishes: bool,
    stages: bool,
    ended: int,
) -> str:
    what = "+".join([*(["stage"] if stages else ()), *(["publish"] if publishes else ())])
    return f"{run_id}:{what}:{part}:{_attempt(part, chunks)}.{ended}"


def _attempt(part: DayRange, chunks: Sequence[ChunkRecord]) -> int:
    """The same from the request until its worker has failed."""
    own = next((chunk for chunk in chunks if chunk.days == part), None)
    if own is None:
        return 1
    return own.attempt + 1 if own.status is ChunkStatus.FAILED else own.attempt
