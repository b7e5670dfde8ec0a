"""What is decided about a run before its checklist is gone through; nothing is refused here.

It is put together once from intent, catalog, facts and terms. `preflight` judges it and `plan`
makes the manifest of it, so that both speak of the same numbers.
"""

from dataclasses import dataclass, replace
from datetime import date

from backfill_platform.domain.approvals import ProposedChange, Requirement
from backfill_platform.domain.catalog import Catalog
from backfill_platform.domain.estimates import Estimate
from backfill_platform.domain.impacts import Impact
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.limits import NO_LIMITS, Limits
from backfill_platform.domain.manifests import UnchangedDays
from backfill_platform.domain.tables import TableSpec
from backfill_platform.planner.estimate import estimate_run
from backfill_platform.planner.facts import Facts, Terms
from backfill_platform.planner.impact import downstream_impact
from backfill_platform.planner.unchanged import find_unchanged, short_gaps
from backfill_platform.planner.workload import Workload, fit_chunk_days, measure_workload

DEFAULT_RATE = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    intent: Intent
    spec: TableSpec
    catalog: Catalog
    facts: Facts
    limits: Limits  # the strictest of policy, table and intent
    limit_conflicts: tuple[str, ...]
    work: Workload
    estimate: Estimate
    impacts: tuple[Impact, ...]
    requirement: Requirement
    unchanged: tuple[UnchangedDays, ...] = ()  # by the run that computed what is accepted

    @property
    def today(self) -> date:
        return self.facts.now.date()

    @property
    def replaced_days(self) -> tuple[date, ...]:
        """Days whose partition holds something now."""
        return tuple(day for day in self.intent.days if day in self.facts.target.fingerprints)


def draft_run(
    intent: Intent, spec: TableSpec, catalog: Catalog, facts: Facts, terms: Terms
) -> Draft:
    limits, conflicts = tighten_limits(
        # Limits of an intent that make no sense are among its own reasons.
        terms.limits,
        spec.limits,
        NO_LIMITS if intent.limits.problems else intent.limits,
    )
    chunk_days = fit_chunk_days(intent, spec, facts.inputs, limits)
    unchanged = _leave_days(intent, spec, catalog, facts, chunk_days)
    left = frozenset(day for one in unchanged for day in one.compared)
    work = measure_workload(intent, spec, facts.inputs, chunk_days, left)
    rates = terms.rates
    estimate = estimate_run(
        work,
        past_chunks=facts.past_chunks,
        target=facts.target,
        rate=rates[spec.layer if spec.layer in rates else DEFAULT_RATE],
        limits=limits,
    )
    change = _propose(intent, spec, facts, estimate)
    return Draft(
        intent=intent,
        spec=spec,
        catalog=catalog,
        facts=facts,
        limits=limits,
        limit_conflicts=conflicts,
        work=work,
        estimate=estimate,
        impacts=downstream_impact(catalog, intent.table, intent.days, facts.now.date()),
        requirement=terms.require_approvals(change),
        unchanged=unchanged,
    )


def tighten_limits(*given: Limits) -> tuple[Limits, tuple[str, ...]]:
    """The strictest of each, and why some exclude each other."""
    strictest, conflicts = NO_LIMITS, list[str]()
    for limits in given:
        try:
            strictest = strictest.tightened_by(limits)
        except ValueError as apart:
            conflicts.append(str(apart))
    return strictest, tuple(conflicts)


def _leave_days(
    intent: Intent, spec: TableSpec, catalog: Catalog, facts: Facts, chunk_days: int
) -> tuple[UnchangedDays, ...]:
    found = find_unchanged(intent, spec, catalog, facts)
    chunks = intent.days.split(chunk_days, spec.boundary)
    computed = short_gaps(chunks, {day for one in found for day in one.compared})
    left = (
        {day: digest for day, digest in one.compared.items() if day not in computed}
        for one in found
    )
    return tuple(replace(one, compared=days) for one, days in zip(found, left, strict=True) if days)


def _propose(intent: Intent, spec: TableSpec, facts: Facts, estimate: Estimate) -> ProposedChange:
    return ProposedChange(
        table=intent.table,
        layer=spec.layer,
        kind=intent.kind,
        partitions=len(intent.days),
        is_full=intent.is_full,
        rows_read=estimate.rows_read,
        cost_usd=estimate.cost_usd.expected,
        replaces_accepted=any(day in intent.days for day in facts.target.fingerprints),
    )
