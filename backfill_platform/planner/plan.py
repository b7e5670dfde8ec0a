"""Intent, catalog, facts and terms become a manifest, or a refusal that names every reason at once.

Pure: the same arguments give the same manifest and so the same digest, in whatever order mappings
and inputs stand (test_the_same_digest_in_any_order). It knows nothing of how the facts were found
or how the manifest will be carried out.
"""

from collections.abc import Iterator
from datetime import timedelta

from backfill_platform.domain.catalog import Catalog
from backfill_platform.domain.errors import PlanRefused
from backfill_platform.domain.findings import Finding, Severity
from backfill_platform.domain.identity import GroupId, RunId
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.manifests import (
    Manifest,
    PinnedTarget,
    Safety,
)
from backfill_platform.domain.modes import ExecutionMode
from backfill_platform.domain.tables import TableSpec
from backfill_platform.planner.draft import Draft, draft_run
from backfill_platform.planner.facts import Facts, Terms
from backfill_platform.planner.mode_reasons import held_reasons
from backfill_platform.planner.output_version import (
    choose_output_version,
    output_version_reasons,
)
from backfill_platform.planner.pins import pin_inputs, pin_references, pin_transform
from backfill_platform.planner.preflight import go_through_checklist
from backfill_platform.planner.publish_scope import (
    choose_scope,
    is_published_by_hand,
    scope_reasons,
)
from backfill_platform.planner.references import ReferenceChoices, choose_references
from backfill_platform.planner.refusals import future_reasons, intent_reasons
from backfill_platform.planner.schema_reasons import planned_changes
from backfill_platform.planner.scope import choose_transform
from backfill_platform.planner.validation import pin_validation


def find_table(catalog: Catalog, table: str) -> TableSpec:
    spec = catalog.tables.get(table)
    if spec is None:
        known = ", ".join(catalog.tables)
        raise PlanRefused((f"there is no table {table!r}; declared are {known}",))
    return spec


def check_intent(intent: Intent, catalog: Catalog) -> TableSpec:
    """What can be refused before any fact is gathered."""
    spec = find_table(catalog, intent.table)
    reasons = tuple(intent_reasons(intent, spec, catalog))
    if reasons:
        raise PlanRefused(reasons)
    return spec


def build_manifest(
    intent: Intent, catalog: Catalog, facts: Facts, terms: Terms, run_id: RunId
) -> Manifest:
    spec = find_table(catalog, intent.table)
    draft = draft_run(intent, spec, catalog, facts, terms)
    findings = go_through_checklist(draft)
    references = choose_references(
        spec, intent, catalog, today=draft.today, original=facts.original_references
    )
    transform = choose_transform(spec, intent.transform_version)
    reasons = tuple(dict.fromkeys(_reasons(draft, references, findings)))
    if reasons or transform is None:
        raise PlanRefused(reasons)
    return Manifest(
        run_id=run_id,
        group_id=GroupId(intent.group_id),
        scope_version=facts.replaced_scope_version + 1,
        replaces=facts.replaced,
        kind=intent.kind,
        mode=intent.mode,
        knowledge=intent.knowledge,
        reason=intent.reason,
        ticket=intent.ticket,
        requested_by=intent.requested_by,
        planned_at=facts.now,
        valid_until=facts.now + timedelta(hours=terms.plan_valid_hours),
        is_full=intent.is_full,
        inputs=pin_inputs(intent, spec, catalog, facts),
        references=pin_references(references, facts),
        deletions=facts.deletions,
        transform=pin_transform(spec, transform, facts),
        target=_pin_target(draft),
        chunk_days=draft.work.chunk_days,
        safety=_safety(draft),
        validation=pin_validation(spec, intent),
        approval=draft.requirement,
        estimate=draft.estimate,
        impacts=draft.impacts,
        findings=findings,
        unchanged=draft.unchanged,
        computes_all=intent.computes_all,
    )


def _reasons(
    draft: Draft, references: ReferenceChoices, findings: tuple[Finding, ...]
) -> Iterator[str]:
    intent, facts = draft.intent, draft.facts
    yield from intent_reasons(intent, draft.spec, draft.catalog)
    yield from future_reasons(intent, draft.spec, draft.today)
    yield from output_version_reasons(draft)
    yield from held_reasons(draft)
    yield from references.reasons
    yield from scope_reasons(draft)
    yield from _topic_reasons(draft)
    if intent.replaces is not None and facts.replaced is None:
        yield f"{intent.replaces} is to be replaced, and nothing is known of it; name a planned run"
    for finding in findings:
        if finding.severity is Severity.REFUSE:
            yield finding.message


def _topic_reasons(draft: Draft) -> Iterator[str]:
    told = draft.spec.announcement
    if told and not draft.facts.has_broker:
        yield (
            f"{draft.spec.full_name} tells its publications on the topic {told.topic!r}, and "
            "nobody said where topics are; set BACKFILL_KAFKA_SERVERS"
        )


def _pin_target(draft: Draft) -> PinnedTarget:
    intent, held = draft.intent, draft.facts.target
    return PinnedTarget(
        table=intent.table,
        publish_mode=draft.spec.publish_mode,
        publish_scope=choose_scope(intent, draft.spec),
        live_conflicts=draft.spec.live_conflicts,
        version_column=draft.spec.version_column,
        output_version=choose_output_version(draft),
        partitions=intent.days,
        schema_changes=planned_changes(draft),
        topic=draft.spec.announcement.topic if draft.spec.announcement else None,
        boundary=draft.spec.boundary,
        base_version=held.version,
        base={day: digest for day, digest in held.fingerprints.items() if day in intent.days},
        schema_digest=draft.catalog.contracts[intent.table].digest,
    )


def _safety(draft: Draft) -> Safety:
    """Invariant: only a live run may reach a sink with side effects
    (test_only_a_live_run_may_have_side_effects)."""
    return Safety(
        side_effects_allowed=draft.intent.mode is ExecutionMode.LIVE,
        requires_manual_publish=is_published_by_hand(draft.intent, draft.spec),
        limits=draft.limits,
    )
