"""Reads what a Dagster run is for: its tags, and the backfill or launch that it belongs to.

The first chunk of a backfill freezes the manifest of the whole backfill; later chunks come with the
same origin and join it. A run that is tried again keeps the origin of the run it repeats.
"""

from collections.abc import Callable, Mapping
from datetime import date
from enum import StrEnum
from typing import TypeVar

import dagster as dg

from backfill_platform.domain.catalog import Catalog
from backfill_platform.domain.day_notation import parse_days
from backfill_platform.domain.errors import PlanRefused
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.intents import Intent, ReferenceChoice
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import (
    ExecutionMode,
    Knowledge,
    PublishScope,
    ReferenceSemantics,
    RunKind,
)
from backfill_platform.domain.override_notation import (
    parse_expected,
    parse_list,
    parse_severity,
    parse_tolerance,
    severities_by_gate,
    tolerances_by_measure,
)
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.quality import ExpectedChange, Tolerance
from backfill_platform.domain.tables import TableSpec
from backfill_platform.domain.verdicts import Gate, GateSeverity
from backfill_platform.engine.carry_out.starting import open_run, start_run
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.publishing import find_run
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.keys import staging_key, table_key
from backfill_platform.orchestration.partitions import step_days

Said = TypeVar("Said")
Word = TypeVar("Word", bound=StrEnum)


def launch_origin(run: dg.DagsterRun, table: str) -> str:
    return f"{_launch(run)}:{table}"


def read_intent(context: dg.AssetExecutionContext, spec: TableSpec) -> Intent:
    run = context.run
    kind = _word(RunKind, run.tags, tags.KIND, RunKind.BACKFILL)
    is_live = kind is RunKind.LIVE
    default_mode = ExecutionMode.LIVE if is_live else ExecutionMode.BACKFILL
    default_knowledge = Knowledge.AS_KNOWN_THEN if is_live else Knowledge.UP_TO_SNAPSHOT
    return Intent(
        table=spec.full_name,
        days=launched_days(context),
        kind=kind,
        mode=_word(ExecutionMode, run.tags, tags.MODE, default_mode),
        knowledge=_word(Knowledge, run.tags, tags.KNOWLEDGE, default_knowledge),
        reason=_reason(context),
        ticket=run.tags.get(tags.TICKET, ""),
        requested_by=run.tags.get(tags.REQUESTED_BY, "dagster"),
        origin=launch_origin(run, spec.full_name),
        group_id=_launch(run),
        transform_version=run.tags.get(tags.TRANSFORM_PREFIX + spec.full_name),
        references=_references(run.tags, spec),
        publish_scope=_publish_scope(run.tags),
        as_of=_as_of(run.tags),
        accepted_schema_changes=frozenset(
            run.tags.get(tags.ACCEPT_SCHEMA_CHANGE, "").replace(",", " ").split()
        ),
        severities=_said(run.tags, tags.SEVERITY, _severities),
        tolerances=_said(run.tags, tags.TOLERANCE, _tolerances),
        expected_changes=_said(run.tags, tags.EXPECT, _expected),
    )


def open_launched_run(
    context: dg.AssetExecutionContext,
    platform: Platform,
    spec: TableSpec,
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
        read_intent(context, spec),
        launched=launched_tables(context, platform.catalog),
        publishes=publishes,
        examine=examine,
    )


def find_launched_run(run: dg.DagsterRun, platform: Platform, spec: TableSpec) -> Manifest:
    """For checks and publication: the run whose chunk was staged before."""
    named = _named_run(run, platform, spec)
    if named is not None:
        return load_manifest(platform, named)
    return find_run(platform, launch_origin(run, spec.full_name))


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


def _launch(run: dg.DagsterRun) -> str:
    if tags.BACKFILL_ID in run.tags:
        return f"dagster-backfill:{run.tags[tags.BACKFILL_ID]}"
    if tags.LAUNCH in run.tags:
        return f"launch:{run.tags[tags.LAUNCH]}"
    return f"dagster-run:{run.root_run_id or run.run_id}"


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


def _reason(context: dg.AssetExecutionContext) -> str:
    """The tag, or else the title or description that the backfill was launched with."""
    run = context.run
    if tags.REASON in run.tags:
        return run.tags[tags.REASON]
    backfill_id = run.tags.get(tags.BACKFILL_ID)
    backfill = context.instance.get_backfill(backfill_id) if backfill_id else None
    return (backfill.title or backfill.description or "") if backfill else ""


def _word(words: type[Word], given: Mapping[str, str], tag: str, default: Word) -> Word:
    text = given.get(tag)
    if text is None:
        return default
    try:
        return words(text.upper())
    except ValueError as unknown:
        known = ", ".join(words)
        raise PlanRefused((f"tag `{tag}` is {text!r}; it may be {known}",)) from unknown


def _publish_scope(given: Mapping[str, str]) -> PublishScope | None:
    """Written as on the command line or as in a manifest."""
    text = given.get(tags.PUBLISH_SCOPE)
    if text is None:
        return None
    word = {tags.PUBLISH_SCOPE: text.replace("-", "_")}
    return _word(PublishScope, word, tags.PUBLISH_SCOPE, PublishScope.PROGRESSIVE)


def _as_of(given: Mapping[str, str]) -> date | None:
    text = given.get(tags.AS_OF)
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as wrong:
        reason = f"tag `{tags.AS_OF}` is {text!r}, which is no day; write 2025-01-31"
        raise PlanRefused((reason,)) from wrong


def _said(given: Mapping[str, str], tag: str, parse: Callable[[str], Said]) -> Said:
    try:
        return parse(given.get(tag, ""))
    except ValueError as wrong:
        raise PlanRefused((f"tag `{tag}`: {wrong}",)) from wrong


def _severities(text: str) -> dict[Gate, GateSeverity]:
    return severities_by_gate(parse_list(text, parse_severity))


def _tolerances(text: str) -> dict[str, Tolerance]:
    return tolerances_by_measure(parse_list(text, parse_tolerance))


def _expected(text: str) -> tuple[ExpectedChange, ...]:
    return parse_list(text, parse_expected)


def _references(given: Mapping[str, str], spec: TableSpec) -> dict[str, ReferenceChoice]:
    return {
        use.name: parse_reference_choice(given[tags.REFERENCE_PREFIX + use.name])
        for use in spec.references
        if tags.REFERENCE_PREFIX + use.name in given
    }


def parse_reference_choice(text: str) -> ReferenceChoice:
    version, _, semantics = text.partition(":")
    try:
        meaning = (semantics or ReferenceSemantics.CORRECTED_TRUTH).upper()
        return ReferenceChoice(version=version or None, semantics=ReferenceSemantics(meaning))
    except ValueError as unknown:
        known = ", ".join(ReferenceSemantics)
        reason = (
            f"reference choice {text!r} must be `version:semantics`, or `:semantics` where that "
            f"chooses the version, with one of {known}"
        )
        raise PlanRefused((reason,)) from unknown
