"""Refuses a transform that may give other rows next time, before anything of a run is computed.

The plan of the run's first chunk is looked at, over its pinned frames; nothing is read for that. An
open order that the transform version declares to be harmless passes, and stands in the evidence.

Invariant: nothing is computed by a transform whose plan reads a clock, chance, or an order that is
neither total nor declared (test_a_transform_that_orders_by_less_than_the_key_computes_nothing).
"""

import hashlib
from collections.abc import Callable

from pyspark.sql import SparkSession

from backfill_platform.domain.canonical import canonical_json
from backfill_platform.domain.determinism import Cause, Sighting
from backfill_platform.domain.errors import TransformNotDeterministic
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.plain import to_plain
from backfill_platform.domain.tables import TableSpec
from backfill_platform.domain.transforms import Frames, TransformVersion
from backfill_platform.engine.carry_out.deployment import pinned_transform
from backfill_platform.engine.carry_out.frames import chunk_frames
from backfill_platform.engine.carry_out.measuring import refuse_measures
from backfill_platform.engine.deletions import run_protection
from backfill_platform.engine.plan.planning import draft_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.records import keep_record
from backfill_platform.executor.examining import BASE, examine_transform
from backfill_platform.executor.protecting import protect_frames
from backfill_platform.executor.staging import chunk_context


def examine_first(
    platform: Platform,
    manifest: Manifest,
    transform: TransformVersion,
    frames: Frames,
    days: DayRange,
) -> None:
    """Once a computed chunk is measured the transform has passed, and it is still the same."""
    measured = (one for one in platform.ledger.chunks(manifest.run_id) if one.checksum is not None)
    if any(manifest.computed_parts(chunk.days) for chunk in measured):
        return
    refuse_measures(platform, next(iter(frames.inputs.values())).sparkSession, manifest)
    open_orders = _examine(platform, manifest, transform, frames, days)
    body = {"days": str(days), "left_open": [str(one) for one in open_orders]}
    if open_orders:
        body["ties"] = transform.ties
    keep_record(platform, manifest.run_id, "examination", key=f"examination:{days}", body=body)


def examine_intent(
    platform: Platform, start_spark: Callable[[], SparkSession], intent: Intent
) -> None:
    """Before a run is recorded; whoever comes with a known origin joins what was examined then.
    What planning refuses is refused before Spark is started, and a run that computes nothing does
    not start it at all."""
    if platform.ledger.run_by_origin(intent.origin) is None:
        drafted = draft_manifest(platform, intent)
        if any(drafted.computed_parts(chunk) for chunk in drafted.chunks):
            examine_draft(platform, start_spark(), drafted)


def examine_draft(
    platform: Platform, spark: SparkSession, manifest: Manifest
) -> tuple[Sighting, ...]:
    """The orders that are left open, as declared; anything else is refused."""
    transform, days = pinned_transform(platform, manifest), manifest.chunks[0]
    protection = run_protection(platform, manifest)
    frames = protect_frames(chunk_frames(platform, spark, manifest, days), protection)
    return _examine(platform, manifest, transform, frames, days)


def _examine(
    platform: Platform,
    manifest: Manifest,
    transform: TransformVersion,
    frames: Frames,
    days: DayRange,
) -> tuple[Sighting, ...]:
    spec = platform.catalog.tables[manifest.target.table]
    subject = _subject(manifest, days)
    if subject not in platform.examined:
        platform.examined[subject] = examine_transform(
            transform.function, frames, chunk_context(manifest, days), _keys(platform, spec)
        )
    found = platform.examined[subject]
    refused = [one for one in found if not (transform.ties and one.cause is Cause.ORDER)]
    if refused:
        raise TransformNotDeterministic(
            table=spec.full_name,
            transform=f"{spec.transform_name}/{transform.version}",
            sightings=tuple(map(str, refused)),
        )
    return found


def _subject(manifest: Manifest, days: DayRange) -> str:
    """All that a plan is made from: a launch examines its intent, and the first chunk of its run
    comes a moment later with the same."""
    target, mode = manifest.target, manifest.mode
    named = (target.table, target.schema_digest, target.base_version, manifest.knowledge, mode)
    pinned = (manifest.transform, manifest.inputs, manifest.references, manifest.deletions)
    text = canonical_json([str(days), *map(to_plain, (*named, *pinned))])
    return hashlib.sha256(text.encode()).hexdigest()


def _keys(platform: Platform, spec: TableSpec) -> dict[str, tuple[str, ...]]:
    """What landed has no declared key, and nothing holds it to one."""
    tables = platform.catalog.tables
    return {BASE: spec.keys} | {
        used.name: tables[used.name].keys for used in spec.inputs if used.name in tables
    }
