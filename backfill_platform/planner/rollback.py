"""Plans to return partitions to what they held before a run, or refuses with every reason at once.

Pure, like `plan`: the facts say what the ledger and the target's log know. A rollback computes
nothing, so its inputs are the target itself, just before the run landed, and its transform is the
one that it takes back. Whether a day may be returned is decided in `rollback_reasons`.
"""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal

from backfill_platform.domain.approvals import ProposedChange, Requirement
from backfill_platform.domain.catalog import Catalog
from backfill_platform.domain.errors import PlanRefused
from backfill_platform.domain.estimates import Cost, Estimate, Span
from backfill_platform.domain.findings import Check, Finding, Severity
from backfill_platform.domain.identity import GroupId, RunId
from backfill_platform.domain.impacts import Impact
from backfill_platform.domain.limits import NO_LIMITS
from backfill_platform.domain.manifests import (
    InputType,
    Manifest,
    PinnedInput,
    PinnedTarget,
    ReplacedManifest,
    Safety,
    Validation,
)
from backfill_platform.domain.modes import ExecutionMode, RunKind
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.tables import TableSpec
from backfill_platform.domain.transforms import InputWindow
from backfill_platform.planner.facts import Terms
from backfill_platform.planner.impact import downstream_impact
from backfill_platform.planner.plan import find_table
from backfill_platform.planner.rollback_facts import RollbackFacts, RollbackRequest
from backfill_platform.planner.rollback_reasons import asked_days, rollback_reasons
from backfill_platform.planner.schema_return import returning_changes, schema_return_finding
from backfill_platform.planner.wording import count_of, name_days, name_hours

NOTHING = Span(low=0, expected=0, high=0)
NO_COST = Cost(low=Decimal(0), expected=Decimal(0), high=Decimal(0))

# The files were measured and judged when they were published, and they have not changed.
JUDGED_BEFORE = Validation(gates=(), count_tolerance=0, checksum_required=False)


def build_rollback(
    request: RollbackRequest, catalog: Catalog, facts: RollbackFacts, terms: Terms, run_id: RunId
) -> Manifest:
    undone = facts.undone
    spec = find_table(catalog, undone.target.table)
    reasons = tuple(dict.fromkeys(rollback_reasons(request, facts)))
    if reasons:
        raise PlanRefused(reasons)
    days = PartitionSet.of_days(asked_days(request, facts))
    schema_digest = catalog.contracts[spec.full_name].digest
    target = _pin_target(spec, facts, days, schema_digest)
    impacts = downstream_impact(catalog, spec.full_name, days, facts.now.date())
    requirement = terms.require_approvals(_propose(spec, target))
    return Manifest(
        run_id=run_id,
        group_id=GroupId(f"rollback:{undone.run_id}"),
        scope_version=1,
        replaces=None,
        undoes=ReplacedManifest(run_id=undone.run_id, manifest_digest=undone.digest),
        kind=RunKind.ROLLBACK,
        mode=ExecutionMode.BACKFILL,
        knowledge=undone.knowledge,
        reason=request.reason,
        ticket=request.ticket,
        requested_by=request.requested_by,
        planned_at=facts.now,
        valid_until=_valid_until(facts, days, terms),
        is_full=False,
        inputs=_pin_former_versions(spec, facts, days, schema_digest),
        references=(),
        deletions=facts.deletions,
        transform=undone.transform,
        target=target,
        chunk_days=len(days.span),  # one commit
        safety=Safety(side_effects_allowed=False, requires_manual_publish=False, limits=NO_LIMITS),
        validation=JUDGED_BEFORE,
        approval=requirement,
        estimate=_estimate(target),
        impacts=impacts,
        findings=_findings(request, spec, facts, days, impacts, requirement),
    )


def former_versions(manifest: Manifest) -> dict[date, int]:
    """The version of the target to which a planned rollback returns each of its days."""
    return {day: int(pinned.snapshot) for pinned in manifest.inputs for day in pinned.rows}


def _pin_former_versions(
    spec: TableSpec, facts: RollbackFacts, days: PartitionSet, schema_digest: str
) -> tuple[PinnedInput, ...]:
    """One for each version: a run that landed in several commits replaced several versions."""
    before = {day: facts.before[day] for day in days}
    rows_by_version: dict[int, dict[date, int]] = {}
    for day, held in before.items():
        rows_by_version.setdefault(held.version, {})[day] = held.rows or 0
    return tuple(
        PinnedInput(
            name=spec.full_name,
            type=InputType.TABLE,
            snapshot=str(version),
            days=PartitionSet.of_days(rows).span,
            window=InputWindow(before_days=0, after_days=0),
            files={},
            rows=rows,
            schema_digest=schema_digest,
        )
        for version, rows in sorted(rows_by_version.items())
    )


def _pin_target(
    spec: TableSpec, facts: RollbackFacts, days: PartitionSet, schema_digest: str
) -> PinnedTarget:
    held = facts.target
    return PinnedTarget(
        table=spec.full_name,
        publish_mode=spec.publish_mode,
        version_column=facts.undone.target.version_column,
        output_version=facts.undone.target.output_version,
        schema_changes=returning_changes(facts),
        topic=facts.undone.target.topic,  # where it was told, it is taken back
        partitions=days,
        boundary=spec.boundary,
        base_version=held.version,
        base={day: digest for day, digest in held.fingerprints.items() if day in days},
        schema_digest=schema_digest,
    )


def _propose(spec: TableSpec, target: PinnedTarget) -> ProposedChange:
    return ProposedChange(
        table=spec.full_name,
        layer=spec.layer,
        kind=RunKind.ROLLBACK,
        partitions=len(target.partitions),
        is_full=False,
        rows_read=0,
        cost_usd=NO_COST.expected,
        replaces_accepted=bool(target.base),
    )


def _estimate(target: PinnedTarget) -> Estimate:
    number = len(target.partitions)
    what = count_of(number, "partition")
    return Estimate(
        rows_read=0,
        bytes_read=0,
        rows_out=NOTHING,
        bytes_out=NOTHING,
        seconds=Span(low=0, expected=1, high=max(5, number // 100)),
        cost_usd=NO_COST,
        basis=(f"nothing is read or computed: one commit of metadata for {what}",),
    )


def _valid_until(facts: RollbackFacts, days: PartitionSet, terms: Terms) -> datetime:
    """Not longer than the files are sure to stay; if they outlived that, they may go any moment,
    and the look at them before the commit decides."""
    usual = facts.now + timedelta(hours=terms.plan_valid_hours)
    returning = facts.returning(days)
    if not returning:
        return usual
    until = facts.possible_until(returning)
    return min(usual, until) if until > facts.now else usual


def _findings(
    request: RollbackRequest,
    spec: TableSpec,
    facts: RollbackFacts,
    days: PartitionSet,
    impacts: tuple[Impact, ...],
    requirement: Requirement,
) -> tuple[Finding, ...]:
    ticket = request.ticket.strip()
    return (
        Finding(
            check=Check.REASON_GIVEN,
            severity=Severity.PASS if ticket else Severity.WARN,
            message=ticket or "no ticket is named; name the one in which this was asked for",
        ),
        Finding(
            check=Check.SOURCE_AVAILABLE,
            severity=Severity.PASS,
            message="every file that was replaced is still there",
        ),
        Finding(
            check=Check.NO_RUN_IN_FLIGHT,
            severity=Severity.PASS,
            message=f"no other run of {spec.full_name} may still publish these days",
        ),
        *schema_return_finding(returning_changes(facts)),
        _rollback_possible(facts, days),
        _stakeholders_known({spec.full_name: spec.owner}, impacts, requirement),
    )


def _rollback_possible(facts: RollbackFacts, days: PartitionSet) -> Finding:
    hours, (severity, said) = facts.target.rollback_hours, _how_long(facts, days)
    staying = [day for day in facts.histories if day not in days]
    others = f"; {name_days(staying)} of the run stay as they are" if staying else ""
    again = f"this rollback can itself be rolled back for {name_hours(hours or 0)}"
    return Finding(
        check=Check.ROLLBACK_POSSIBLE,
        severity=severity,
        message=f"{said}; {again}{others}",
    )


def _how_long(facts: RollbackFacts, days: PartitionSet) -> tuple[Severity, str]:
    returning = facts.returning(days)
    if not returning:
        return Severity.PASS, "what was seen before is still there, behind the version of the run"
    until = facts.possible_until(returning)
    said = f"what was replaced stays until {until:%Y-%m-%d %H:%M} UTC"
    if until > facts.now:
        return Severity.PASS, said
    said = f"{said.replace('stays', 'was sure to stay')}, and goes with the next vacuum"
    return Severity.WARN, said


def _stakeholders_known(
    owners: Mapping[str, str], impacts: tuple[Impact, ...], requirement: Requirement
) -> Finding:
    owned = {**owners, **{impact.table: impact.owner for impact in impacts}}
    told = dict.fromkeys([*sorted(set(owned.values())), *requirement.notify])
    return Finding(
        check=Check.STAKEHOLDERS_KNOWN,
        severity=Severity.PASS,
        message=f"to be told: {', '.join(told)}",
    )
