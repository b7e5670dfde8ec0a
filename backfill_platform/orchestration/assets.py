"""Makes a staging asset and a publish asset of every `TableSpec`.

    <upstream tables> ─► staging/<layer>/<table> ─► checks ─► <layer>/<table> ─► <downstream tables>

Both share partitions and backfill policy, and so land in the same Dagster run, which is one chunk.
The assets only translate: what happens is the engine's business.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import Any

import dagster as dg
from dagster_pyspark import PySparkResource

from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import Boundary, PartitionSet
from backfill_platform.domain.runs import AcceptedPartition
from backfill_platform.domain.tables import TableSpec
from backfill_platform.engine.carry_out.examining import examine_intent
from backfill_platform.engine.carry_out.staging import StagedChunk, stage_days
from backfill_platform.engine.look.status import read_status
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.publishing import ChunkPublication, publish_partitions
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.checks import tell_checks
from backfill_platform.orchestration.failures import told_to_dagster
from backfill_platform.orchestration.keys import staging_key, table_key
from backfill_platform.orchestration.launch_words import LaunchConfig
from backfill_platform.orchestration.launches import (
    find_launched_run,
    launched_days,
    open_launched_run,
    stages_too,
)
from backfill_platform.orchestration.materializations import (
    DELTA_VERSION,
    content_version,
    newest_metadata,
    partition_metadata,
    run_metadata,
    staged_metadata,
    staging_metadata,
)
from backfill_platform.orchestration.partitions import daily_partitions, step_days
from backfill_platform.orchestration.plan_tables import plan_metadata
from backfill_platform.orchestration.sensors.dead_runs import sign
from backfill_platform.orchestration.standing import standing_metadata

Published = dg.AssetCheckEvaluation | dg.MaterializeResult


def chunk_policy(spec: TableSpec) -> dg.BackfillPolicy:
    """With different policies, staging and publication would land in different Dagster runs.

    Dagster cuts after so many days and knows no months: a table whose months stay whole gets its
    range as one Dagster run, and the engine cuts it. So does one that becomes visible at once.
    """
    if spec.boundary is not Boundary.DAY or spec.usual_scope.is_at_once:
        return dg.BackfillPolicy.single_run()
    return dg.BackfillPolicy.multi_run(spec.chunk_days)


def freshness_policy(spec: TableSpec) -> dg.FreshnessPolicy | None:
    """Dagster counts from the newest publication of any day."""
    if spec.fresh_within_hours is None:
        return None
    return dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=spec.fresh_within_hours))


def source_assets(platform: Platform) -> list[dg.AssetSpec]:
    return [
        dg.AssetSpec(
            key=table_key(source.name),
            group_name="landing",
            description=source.description,
            owners=[f"team:{source.owner}"],
            kinds={"parquet"},
        )
        for source in platform.catalog.sources.values()
    ]


def make_staging_asset(platform: Platform, spec: TableSpec) -> dg.AssetsDefinition:
    @dg.asset(
        key=staging_key(spec),
        # Day by day: windows around a day are the planner's, see docs/adr/0005.
        deps=[table_key(used.name) for used in spec.inputs],
        group_name=f"staging_{spec.layer}",  # the graph shows a group's name and a key's last part
        description=f"What a run wants {spec.full_name} to be; nobody but its gates reads it.",
        owners=[f"team:{spec.owner}"],
        kinds={"pyspark", "delta"},
        partitions_def=daily_partitions(spec),
        backfill_policy=chunk_policy(spec),
    )
    def stage(
        context: dg.AssetExecutionContext, config: LaunchConfig, pyspark: PySparkResource
    ) -> dg.MaterializeResult:
        sign(context.instance, context.run.run_id, platform.worker)
        with told_to_dagster():
            manifest = open_launched_run(
                context,
                platform,
                spec,
                config,
                examine=partial(examine_intent, platform, lambda: pyspark.spark_session),
            )
            context.instance.add_run_tags(context.run.run_id, _run_tags(manifest))
            chunk = stage_days(
                platform, lambda: pyspark.spark_session, manifest.run_id, step_days(context)
            )
        for day, metadata in _staged_by_day(platform, chunk):
            context.add_asset_metadata(metadata, staging_key(spec), day)
        return dg.MaterializeResult(metadata=_staging_metadata(platform, chunk))

    return stage


def make_publish_asset(platform: Platform, spec: TableSpec) -> dg.AssetsDefinition:
    @dg.asset(
        key=table_key(spec.full_name),
        deps=[staging_key(spec)],
        group_name=spec.layer,
        description=spec.description,
        owners=[f"team:{spec.owner}"],
        kinds={"delta"},
        partitions_def=daily_partitions(spec),
        backfill_policy=chunk_policy(spec),
        freshness_policy=freshness_policy(spec),
    )
    def publish(context: dg.AssetExecutionContext) -> Iterator[Published]:
        sign(context.instance, context.run.run_id, platform.worker)
        with told_to_dagster():
            manifest = find_launched_run(context.instance, context.run, platform, spec)
        try:
            with told_to_dagster():
                done = publish_partitions(
                    platform,
                    manifest.run_id,
                    _asked_days(context, manifest),
                    by_hand=not stages_too(context.run, spec),
                )
        except (dg.Failure, dg.RetryRequested):
            yield from tell_checks(context, platform, spec, manifest, is_published=False)
            raise
        yield _materialized(context, platform, spec, manifest, done)
        yield from tell_checks(context, platform, spec, manifest, is_published=True)

    return publish


def _materialized(
    context: dg.AssetExecutionContext,
    platform: Platform,
    spec: TableSpec,
    manifest: Manifest,
    done: ChunkPublication,
) -> dg.MaterializeResult:
    accepted = [one for one in done.accepted if one.day in step_days(context)]
    for day, metadata in _published_by_day(accepted):
        context.add_asset_metadata(metadata, table_key(spec.full_name), day)
    return dg.MaterializeResult(
        metadata={
            **run_metadata(platform.evidence, manifest),
            **_publication_metadata(done),
            **newest_metadata(platform.ledger.newest_accepted(spec.full_name)),
        },
        data_version=content_version(accepted),
    )


def _asked_days(context: dg.AssetExecutionContext, manifest: Manifest) -> PartitionSet:
    """What becomes visible at once is published by the first Dagster run of its launch, whichever
    days that one holds; the others find it done."""
    is_at_once = manifest.target.publish_scope.is_at_once
    return launched_days(context) if is_at_once else PartitionSet.of_range(step_days(context))


def _run_tags(manifest: Manifest) -> dict[str, str]:
    table = manifest.target.table
    return {
        tags.GROUP: manifest.group_id,
        tags.KIND: manifest.kind.value,
        tags.MODE: manifest.mode.value,
        tags.RUN_ID_PREFIX + table: manifest.run_id,
        tags.VERSION_PREFIX + table: f"{manifest.transform.name}/{manifest.transform.version}",
        tags.MANIFEST_PREFIX + table: manifest.digest[:16],
        tags.CODE_PREFIX + table: manifest.transform.code_digest[:16],
    }


def _staging_metadata(platform: Platform, chunk: StagedChunk) -> dict[str, Any]:
    """The whole plan and where it stands, with every chunk: whoever agrees looks at any of them."""
    manifest = chunk.manifest
    status = read_status(platform.ledger, manifest.run_id, platform.clock())
    own = (one for one in status.chunks if one.days.overlaps(chunk.days))
    return {
        **run_metadata(platform.evidence, manifest),
        **plan_metadata(manifest),
        **standing_metadata(status),
        **staging_metadata(manifest, own),
    }


def _staged_by_day(
    platform: Platform, chunk: StagedChunk
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    accepted = platform.ledger.accepted(chunk.manifest.target.table, chunk.days)
    left = {day: one.run_id for one in chunk.manifest.unchanged for day in one.compared}
    for measured in chunk.staged:
        day = measured.day
        computed_by = {"not computed again, as of": left[day]} if day in left else {}
        yield day.isoformat(), staged_metadata(measured, accepted.get(day)) | computed_by


def _published_by_day(
    accepted: Iterable[AcceptedPartition],
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for one in accepted:
        yield one.day.isoformat(), partition_metadata(one)


def _publication_metadata(done: ChunkPublication) -> dict[str, Any]:
    return {
        "partitions changed": len(done.changed),
        "partitions equal to the accepted ones": len(done.unchanged),
        DELTA_VERSION: "as before" if done.version is None else done.version,
    }
