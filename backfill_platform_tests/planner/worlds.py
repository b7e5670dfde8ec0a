"""A small world to plan in: one table, one source that holds a year, and a calm policy."""

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from backfill_platform.domain.approvals import ConsentPoint, ProposedChange, Requirement
from backfill_platform.domain.catalog import Catalog, Declarations, build_catalog
from backfill_platform.domain.errors import PlanRefused
from backfill_platform.domain.estimates import CostRate
from backfill_platform.domain.findings import Check, Finding
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.limits import NO_LIMITS
from backfill_platform.domain.manifests import InputType, Manifest
from backfill_platform.domain.modes import ExecutionMode, Knowledge, RunKind
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.runs import RunInFlight
from backfill_platform.domain.tables import (
    FileSource,
    Input,
    ReferenceData,
    ReferenceUse,
    ReferenceVersion,
    TableSpec,
)
from backfill_platform.planner.facts import (
    CodeFacts,
    Facts,
    InputFacts,
    TargetFacts,
    Terms,
)
from backfill_platform.planner.plan import build_manifest
from backfill_platform_tests.declarations import SCHEMA, SOURCE, make_table, nothing

RUN = RunId("bf-20260704-cases-1.10.0-001")
OTHER_RUN = RunId("bf-20260704-cases-1.10.0-002")
NOW = datetime(2026, 7, 4, 12, tzinfo=UTC)
MARCH = DayRange(date(2025, 3, 1), date(2025, 4, 1))
HELD = DayRange(date(2024, 12, 1), date(2025, 12, 1))
EVENTS = Input(name="landing.events", warm_up_days=28, late_days=10)

CALENDAR = ReferenceData(
    name="calendar",
    versions=tuple(
        ReferenceVersion(version=version, recorded_on=day, path=Path(version), note="")
        for version, day in (
            ("winter", date(2025, 1, 15)),
            ("spring", date(2025, 3, 20)),
            ("restated", date(2026, 6, 12)),
            ("next", date(2026, 8, 1)),
        )
    ),
    load=nothing,
    owner="legal",
    description="Working days.",
)
USES_CALENDAR = (ReferenceUse(name="calendar", version="restated"),)

INTENT = Intent(
    table="silver.cases",
    days=PartitionSet.of_range(MARCH),
    kind=RunKind.RESTATEMENT,
    mode=ExecutionMode.BACKFILL,
    knowledge=Knowledge.UP_TO_SNAPSHOT,
    reason="time zone bug",
    ticket="T-7",
    requested_by="data-platform",
    origin="launch:1",
    group_id="launch:1",
)


def days(first: str, last: str | None = None) -> PartitionSet:
    start = date.fromisoformat(first)
    return PartitionSet.of_range(DayRange.closed(start, date.fromisoformat(last or first)))


def held_input(held: PartitionSet, *, rows: int = 100, size: int = 1_000) -> InputFacts:
    return InputFacts(
        type=InputType.FILES,
        snapshot="s1",
        days_present=held,
        files={day: f"d{day}" for day in held},
        rows=dict.fromkeys(held, rows),
        bytes=dict.fromkeys(held, size),
    )


FACTS = Facts(
    now=NOW,
    inputs={"landing.events": held_input(PartitionSet.of_range(HELD))},
    reference_digests={"calendar": {one.version: one.version * 2 for one in CALENDAR.versions}},
    original_references={},
    target=TargetFacts(
        version=7,
        fingerprints={date(2025, 3, 2): "f2", date(2025, 5, 1): "f5"},
        rows={},
        bytes={},
        rollback_hours=168,
    ),
    code=CodeFacts(
        digest="code",
        config_hash="config",
        git_commit="8d91ab7",
        is_committed=True,
        container_image=None,
        lock_digest="lock",
    ),
    in_flight=(),
    past_chunks=(),
    free_bytes=10**12,
    replaced=None,
)

REQUIREMENT = Requirement(
    rule="7-30 days",
    roles=("data-eng-lead",),
    before=ConsentPoint.PUBLICATION,
    signed=False,
    valid_hours=72,
    notify=("reports@example.org",),
)


def ask_the_lead(_change: ProposedChange) -> Requirement:
    return REQUIREMENT


TERMS = Terms(
    rates={"default": CostRate(low=Decimal("0.50"), high=Decimal("1.50"))},
    limits=NO_LIMITS,
    plan_valid_hours=48,
    require_approvals=ask_the_lead,
)


def make_world(*others: TableSpec, source: FileSource = SOURCE, **changes: Any) -> Catalog:
    """silver.cases with these changes, fed by the source; other tables beside it."""
    declared: dict[str, Any] = {"inputs": (EVENTS,)} | changes
    table = make_table(**declared)
    return build_catalog(
        Declarations(sources=(source,), references=(CALENDAR,), tables=(table, *others)),
        read_contract=lambda _model: SCHEMA,
    )


CATALOG = make_world()


def plan(
    intent: Intent = INTENT,
    *,
    facts: Facts = FACTS,
    terms: Terms = TERMS,
    catalog: Catalog = CATALOG,
) -> Manifest:
    return build_manifest(intent, catalog, facts, terms, RUN)


def reasons(intent: Intent = INTENT, **given: Any) -> str:
    with pytest.raises(PlanRefused) as refused:
        plan(intent, **given)
    return "\n".join(refused.value.reasons)


def finding(check: Check, intent: Intent = INTENT, **given: Any) -> Finding:
    return next(found for found in plan(intent, **given).findings if found.check is check)


def with_input(held: PartitionSet, **changes: Any) -> Facts:
    return replace(FACTS, inputs={"landing.events": held_input(held)}, **changes)


def with_target(**changes: Any) -> Facts:
    return replace(FACTS, target=replace(FACTS.target, **changes))


def another_run(held: PartitionSet) -> RunInFlight:
    return RunInFlight(run_id=OTHER_RUN, state=RunState.STAGING, days=held, requested_by="mary")
