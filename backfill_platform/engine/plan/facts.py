"""Gathers what the planner must know, and the terms that governance lays down. No JVM."""

import shutil
from datetime import date
from pathlib import Path

from backfill_platform.domain.approvals import ProposedChange, Requirement
from backfill_platform.domain.errors import PlanRefused
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.manifests import Manifest, ReplacedManifest
from backfill_platform.domain.modes import PublishMode
from backfill_platform.domain.tables import TableSpec
from backfill_platform.engine.deletions import most_left_out, pin_deletions
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.plan.code_facts import code_facts
from backfill_platform.engine.plan.former import gather_former
from backfill_platform.engine.plan.inputs import gather_input
from backfill_platform.engine.plan.references import original_references, reference_digests
from backfill_platform.engine.plan.target_schema import gather_schema
from backfill_platform.engine.platform import Platform
from backfill_platform.governance.policy import require_approvals
from backfill_platform.lakehouse.delta_tables import read_table_state
from backfill_platform.lakehouse.retention import rollback_hours
from backfill_platform.planner.facts import Facts, TargetFacts, Terms
from backfill_platform.planner.scope import choose_transform


def gather_facts(platform: Platform, intent: Intent, spec: TableSpec) -> Facts:
    transform = choose_transform(spec, intent.transform_version)
    assert transform is not None, "check_intent refuses an unknown version first"
    now = platform.clock()
    replaced = _replaced(platform, intent)
    deletions = pin_deletions(platform, spec)
    return Facts(
        now=now,
        inputs={used.name: gather_input(platform, intent, used) for used in spec.inputs},
        reference_digests={
            use.name: reference_digests(platform.catalog, use.name) for use in spec.references
        },
        original_references=original_references(platform, intent),
        target=_target_facts(platform, intent, spec),
        code=code_facts(transform, spec, container_image=platform.container_image),
        in_flight=platform.ledger.runs_in_flight(intent.table, now),
        past_chunks=platform.ledger.past_chunks(intent.table),
        free_bytes=_free_bytes(platform.warehouse.root),
        replaced=_named(replaced) if replaced else None,
        replaced_scope_version=replaced.scope_version if replaced else 0,
        deletions=deletions,
        has_broker=platform.broker is not None,
        left_out_before=most_left_out(platform, intent.table, intent.days, deletions),
        former=gather_former(platform, intent, spec),
    )


def policy_terms(platform: Platform) -> Terms:
    def ask(change: ProposedChange) -> Requirement:
        return require_approvals(platform.policy, change)

    return Terms(
        rates=platform.policy.rates,
        limits=platform.policy.limits,
        plan_valid_hours=platform.policy.plan_valid_hours,
        require_approvals=ask,
    )


def _target_facts(platform: Platform, intent: Intent, spec: TableSpec) -> TargetFacts:
    state = read_table_state(platform.warehouse.table_path(intent.table), intent.days)
    if state is None:
        return TargetFacts(version=None, fingerprints={}, rows={}, bytes={}, rollback_hours=None)
    held = state.restricted_to_held()
    return TargetFacts(
        version=held.version,
        fingerprints=held.fingerprints,
        rows=held.row_counts,
        bytes=held.byte_counts,
        rollback_hours=rollback_hours(state.configuration),
        accepted_by=_accepted_by(platform, intent),
        output_versions=held.output_versions,
        other_days=_other_days(platform, intent, spec),
        schema=gather_schema(platform, intent, state.columns),
    )


def _accepted_by(platform: Platform, intent: Intent) -> dict[date, RunId]:
    """Of days that a run left empty nobody is the owner of what lies there now."""
    accepted = platform.ledger.accepted(intent.table, intent.days)
    return {day: one.run_id for day, one in accepted.items() if one.row_count}


def _other_days(platform: Platform, intent: Intent, spec: TableSpec) -> tuple[date, ...]:
    """Of a table that is swapped as a whole: what it holds beside the asked days."""
    if spec.publish_mode is not PublishMode.SHADOW_SWAP:
        return ()
    whole = read_table_state(platform.warehouse.table_path(spec.full_name), None)
    return tuple(day for day in (whole.days if whole else ()) if day not in intent.days)


def _replaced(platform: Platform, intent: Intent) -> Manifest | None:
    if intent.replaces is None:
        return None
    replaced = load_manifest(platform, intent.replaces)
    if replaced.target.table != intent.table:
        raise PlanRefused(
            (f"{replaced.run_id} is about {replaced.target.table} and not {intent.table}",)
        )
    return replaced


def _named(manifest: Manifest) -> ReplacedManifest:
    return ReplacedManifest(run_id=manifest.run_id, manifest_digest=manifest.digest)


def _free_bytes(folder: Path) -> int:
    """Of the disk on which the folder lies or will lie."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    return shutil.disk_usage(there).free
