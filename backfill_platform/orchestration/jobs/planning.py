"""Job `plan_only`: plans a run and records it, or only shows what would be planned.

What is said in the launchpad means what a launch says by its tags; who acts is who requests. It is
carried out by a launch with the tag `backfill/run`. The look at Spark's plan comes with that.
"""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

import dagster as dg
from pydantic import Field

from backfill_platform.domain.errors import PlanRefused
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.limits import Limits
from backfill_platform.domain.modes import ExecutionMode, Knowledge, PublishScope, RunKind
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.tables import TableSpec
from backfill_platform.engine.plan.planning import draft_manifest, plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.failures import told_to_dagster
from backfill_platform.orchestration.jobs.acting import (
    ActingConfig,
    Desk,
    make_job,
    plan_told,
    tell,
)
from backfill_platform.orchestration.jobs.days import parse_asked
from backfill_platform.orchestration.launch_words import LaunchWords, build_intent


class PlanConfig(ActingConfig):
    table: str = Field(description="layer.name")
    days: str = Field(description="2025-01-01..2025-01-31, 2025-03-01; both ends included.")
    reason: str = Field(description="Why these numbers change.")
    ticket: str = Field(default="", description="Where it was asked for.")
    kind: RunKind = Field(default=RunKind.BACKFILL, description="Why it changes, in a word.")
    mode: ExecutionMode | None = Field(default=None, description="What its code may touch.")
    knowledge: Knowledge | None = Field(default=None, description="Which arrivals a day may use.")
    transform_version: str = Field(default="", description="The newest when nothing is said.")
    references: dict[str, str] = Field(
        default_factory=dict, description="Reference data by name, as VERSION:SEMANTICS."
    )
    publish_scope: PublishScope | None = Field(
        default=None, description="How much at once, and for whom; the table's own if not said."
    )
    as_of: str = Field(default="", description="Of versioned output: 2025-01-31.")
    accept_schema_change: list[str] = Field(
        default_factory=list, description="Columns that may be removed, narrowed or tightened."
    )
    severity: list[str] = Field(default_factory=list, description="GATE=SEVERITY")
    tolerance: list[str] = Field(default_factory=list, description="MEASURE=2 or MEASURE=0.5%")
    expect: list[str] = Field(default_factory=list, description="MEASURE=-90%..-60%")
    compute_all: bool = Field(
        default=False, description="Also days that are proved to come out as they are."
    )
    manual_publish: bool = Field(default=False, description="Somebody publishes it by hand.")
    max_rows: int | None = Field(default=None, description="Of input, in all.")
    max_cost_usd: float | None = Field(default=None, description="In all.")
    replaces: str = Field(default="", description="An unfinished run, whose scope changes.")
    record: bool = Field(default=True, description="False shows the plan and records nothing.")


def make_plan_job(desk: Desk) -> dg.JobDefinition:
    @dg.op(out=dg.Out(dg.Nothing), description="Show what a run would do, and record its plan.")
    def plan(context: dg.OpExecutionContext, config: PlanConfig):
        platform = desk.platform
        with told_to_dagster():
            intent = _intent(platform, context.run, config, desk.actor(context, config))
            manifest = (plan_run if config.record else draft_manifest)(platform, intent)
        if config.record:
            tell(context, desk, manifest.run_id, f"{manifest.run_id} is planned.")
            return
        said = "Nothing is recorded; the same with `record: true` records it."
        context.add_output_metadata({"outcome": said, **plan_told(platform, manifest)})

    return make_job("plan_only", plan)


def _intent(platform: Platform, run: dg.DagsterRun, config: PlanConfig, actor: str) -> Intent:
    """Executed again, it finds the run that it has planned."""
    spec = _find_table(platform, config.table)
    launch = f"dagster-run:{run.root_run_id or run.run_id}"
    intent = build_intent(
        _words(config, spec, actor),
        spec,
        _asked_days(config.days),
        origin=f"{launch}:{spec.full_name}",
        group_id=launch,
    )
    cost = config.max_cost_usd
    return replace(
        intent,
        limits=Limits(
            max_rows=config.max_rows, max_cost_usd=None if cost is None else Decimal(str(cost))
        ),
        requires_manual_publish=config.manual_publish,
        replaces=RunId(config.replaces) if config.replaces else None,
    )


def _words(config: PlanConfig, spec: TableSpec, actor: str) -> LaunchWords:
    by_field: Mapping[str, tuple[str, str | None]] = {
        "reason": (tags.REASON, config.reason),
        "ticket": (tags.TICKET, config.ticket),
        "acting_as": (tags.REQUESTED_BY, actor),
        "kind": (tags.KIND, config.kind),
        "mode": (tags.MODE, config.mode),
        "knowledge": (tags.KNOWLEDGE, config.knowledge),
        "transform_version": (tags.TRANSFORM_PREFIX + spec.full_name, config.transform_version),
        "publish_scope": (tags.PUBLISH_SCOPE, config.publish_scope),
        "as_of": (tags.AS_OF, config.as_of),
        "accept_schema_change": (tags.ACCEPT_SCHEMA_CHANGE, " ".join(config.accept_schema_change)),
        "severity": (tags.SEVERITY, ",".join(config.severity)),
        "tolerance": (tags.TOLERANCE, ",".join(config.tolerance)),
        "expect": (tags.EXPECT, ",".join(config.expect)),
        "compute_all": (tags.COMPUTE_ALL, "true" if config.compute_all else ""),
    }
    references = {tags.REFERENCE_PREFIX + name: text for name, text in config.references.items()}
    return LaunchWords(
        texts={tag: text for tag, text in by_field.values() if text} | references,
        places={tag: f"`{field}`" for field, (tag, _) in by_field.items()},
    )


def _find_table(platform: Platform, table: str) -> TableSpec:
    known = platform.catalog.tables
    if table not in known:
        raise PlanRefused((f"there is no table {table!r}; there are {', '.join(known)}",))
    return known[table]


def _asked_days(text: str) -> PartitionSet:
    days = parse_asked(text)
    if days is None:
        raise PlanRefused(("`days`: say which; 2025-01-01..2025-01-31",))
    return days
