"""Reads what a Dagster run is for: which backfill or launch it belongs to, and which run that is.

The first chunk of a backfill freezes the manifest of the whole backfill; later chunks come with the
same origin and join it. What is executed again keeps the origin of what it repeats, whether Dagster
repeats one run or makes a new backfill of the days that failed (docs/adr/0003).
"""

from collections.abc import Callable, Mapping
from datetime import date

import dagster as dg

from backfill_platform.domain.catalog import Catalog
from backfill_platform.domain.day_notation import parse_days
from backfill_platform.domain.errors import PlanRefused
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.tables import TableSpec
from backfill_platform.engine.carry_out.starting import open_run, start_run
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.publishing import find_run
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.keys import staging_key, table_key
from backfill_platform.orchestration.launch_words import (
    LaunchConfig,
    LaunchWords,
    build_intent,
    words_of_launch,
)
from backfill_platform.orchestration.partitions import step_days


def launch_origin(instance: dg.DagsterInstance, run: dg.DagsterRun, table: str) -> str:
    return f"{_launch(instance, run)}:{table}"


def read_intent(
    context: dg.AssetExecutionContext, spec: TableSpec, config: LaunchConfig | None = None
) -> Intent:
    run, instance = context.run, context.instance
    words = words_of_launch(run.tags, config, spec)
    return build_intent(
        _with_title(context, words),
        spec,
        launched_days(context),
        origin=launch_origin(instance, run, spec.full_name),
        group_id=_launch(instance, run),
    )


def open_launched_run(
    context: dg.AssetExecutionContext,
    platform: Platform,
    spec: TableSpec,
    config: LaunchConfig | None = None,
    *,
    examine: Callable[[Intent], None],
) -> Manifest:
    """For staging: the planned run that the launch names, or else one that is planned now, and
    examined before it is recorded."""
    publishes = step_days(context) if publishes_too(context.run, spec) else None
    named = _named_run(context.run, platform, spec)
    if named is not None:
        return start_run(platform, named, publishes=publishes)
    return open_run(
        platform,
        read_intent(context, spec, config),
        launched=launched_tables(context, platform.catalog),
        publishes=publishes,
        examine=examine,
    )


def find_launched_run(
    instance: dg.DagsterInstance, run: dg.DagsterRun, platform: Platform, spec: TableSpec
) -> Manifest:
    """For checks and publication: the run whose chunk was staged before."""
    named = _named_run(run, platform, spec)
    if named is not None:
        return load_manifest(platform, named)
    return find_run(platform, launch_origin(instance, run, spec.full_name))


def stages_too(run: dg.DagsterRun, spec: TableSpec) -> bool:
    """Whether this Dagster run also stages what it publishes."""
    return _is_selected(run, staging_key(spec))


def publishes_too(run: dg.DagsterRun, spec: TableSpec) -> bool:
    """Whether this Dagster run also publishes what it stages."""
    return _is_selected(run, table_key(spec.full_name))


def _is_selected(run: dg.DagsterRun, key: dg.AssetKey) -> bool:
    return run.asset_selection is None or key in run.asset_selection


def _named_run(run: dg.DagsterRun, platform: Platform, spec: TableSpec) -> RunId | None:
    """A launch over several tables names the run of each."""
    names = run.tags.get(tags.RUN, "").replace(",", " ").split()
    records = [platform.ledger.run(RunId(name)) for name in names]
    own = [record.run_id for record in records if record.table == spec.full_name]
    if names and len(own) != 1:
        raise PlanRefused(
            (
                f"tag `{tags.RUN}` names {len(own)} runs of {spec.full_name} ({' '.join(names)}); "
                "name exactly one for each table that is launched",
            )
        )
    return own[0] if own else None


def _launch(instance: dg.DagsterInstance, run: dg.DagsterRun) -> str:
    first = _first_of(instance, run)
    backfill_id = first.tags.get(tags.ROOT_BACKFILL_ID) or first.tags.get(tags.BACKFILL_ID)
    if backfill_id:
        return f"dagster-backfill:{backfill_id}"
    if tags.LAUNCH in first.tags:
        return f"launch:{first.tags[tags.LAUNCH]}"
    return f"dagster-run:{run.root_run_id or run.run_id}"


def _first_of(instance: dg.DagsterInstance, run: dg.DagsterRun) -> dg.DagsterRun:
    """Dagster takes the tags of a backfill from what is executed again after its end."""
    first = instance.get_run_by_id(run.root_run_id) if run.root_run_id else None
    return first or run


def launched_days(context: dg.AssetExecutionContext) -> PartitionSet:
    """All days of the backfill or launch, not only those of this run."""
    run = context.run
    if tags.BACKFILL_ID in run.tags:
        return _backfill_scope(context, run.tags[tags.BACKFILL_ID])
    if tags.DAYS in run.tags:
        return _days(run.tags[tags.DAYS])
    return PartitionSet.of_range(step_days(context))


def _days(text: str) -> PartitionSet:
    try:
        return parse_days(text)
    except ValueError as wrong:
        raise PlanRefused((f"tag `{tags.DAYS}`: {wrong}",)) from wrong


def _backfill_scope(context: dg.AssetExecutionContext, backfill_id: str) -> PartitionSet:
    targeted = _targeted_days(context, backfill_id).get(context.asset_key)
    return targeted or PartitionSet.of_range(step_days(context))


def launched_tables(context: dg.AssetExecutionContext, catalog: Catalog) -> dict[str, PartitionSet]:
    """All tables that this backfill stages, with their days."""
    backfill_id = context.run.tags.get(tags.BACKFILL_ID)
    targeted = _targeted_days(context, backfill_id) if backfill_id else {}
    return {
        spec.full_name: targeted[staging_key(spec)]
        for spec in catalog.tables.values()
        if staging_key(spec) in targeted
    }


def _targeted_days(
    context: dg.AssetExecutionContext, backfill_id: str
) -> dict[dg.AssetKey, PartitionSet]:
    """What the backfill is about, by asset; nothing for a backfill of a job."""
    backfill = context.instance.get_backfill(backfill_id)
    if backfill is None or not backfill.is_asset_backfill:
        return {}
    data = backfill.get_asset_backfill_data(context.repository_def.asset_graph)
    return {
        key: PartitionSet.of_days(
            date.fromisoformat(day)
            for day in data.target_subset.get_partitions_subset(key).get_partition_keys()
        )
        for key in data.target_subset.partitions_subsets_by_asset_key
    }


def _with_title(context: dg.AssetExecutionContext, words: LaunchWords) -> LaunchWords:
    """Where neither tag nor config gives a reason, the title of the backfill may."""
    if tags.REASON in words.texts:
        return words
    backfill_id = context.run.tags.get(tags.BACKFILL_ID)
    backfill = context.instance.get_backfill(backfill_id) if backfill_id else None
    title = (backfill.title or backfill.description or "") if backfill else ""
    texts: Mapping[str, str] = {**words.texts, tags.REASON: title}
    return LaunchWords(texts=texts, places=words.places)
