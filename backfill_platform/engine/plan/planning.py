"""Plans a run: from an intent to a manifest in the ledger.

`draft_manifest` decides and writes nothing; `plan_run` records exactly what was drafted. A dry run
shows the first, a run carries out the second, and both are the same value.
"""

from collections.abc import Callable
from datetime import datetime

from backfill_platform.domain.identity import build_run_id
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.manifests import Manifest, manifest_json
from backfill_platform.domain.runs import NewRun
from backfill_platform.engine.consent.consents import await_consent
from backfill_platform.engine.loading import read_manifest
from backfill_platform.engine.plan.facts import gather_facts, policy_terms
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.records import bundle, keep_record
from backfill_platform.planner.plan import build_manifest, check_intent
from backfill_platform.planner.scope import choose_transform


def draft_manifest(platform: Platform, intent: Intent) -> Manifest:
    """What `plan_run` would record now; nothing is written."""
    now, version, draft = _drafting(platform, intent)
    return draft(platform.ledger.next_number(intent.table, version, now.date()))


def plan_run(platform: Platform, intent: Intent) -> Manifest:
    """The run of this intent, planned now or known already by its origin."""
    known = platform.ledger.run_by_origin(intent.origin)
    if known is not None:
        return read_manifest(known)
    now, version, draft = _drafting(platform, intent)
    record = platform.ledger.register_run(
        lambda number: _new_run(intent, draft(number)),
        table=intent.table,
        transform_version=version,
        planned_on=now.date(),
        now=now,
    )
    manifest = read_manifest(record)
    keep_plan(platform, manifest)
    await_consent(platform, manifest)
    return manifest


def keep_plan(platform: Platform, manifest: Manifest) -> None:
    """Into the evidence; again when the run starts, because planning may have died before it."""
    bundle(platform, manifest.run_id).write_manifest(manifest_json(manifest))
    keep_record(
        platform,
        manifest.run_id,
        "plan",
        key="plan",
        body={
            "manifest_digest": manifest.digest,
            "findings": [
                {"check": found.check, "severity": found.severity, "message": found.message}
                for found in manifest.findings
            ],
            "left": {one.run_id: str(one.days) for one in manifest.unchanged},
        },
    )


def _drafting(
    platform: Platform, intent: Intent
) -> tuple[datetime, str, Callable[[int], Manifest]]:
    """Facts are gathered once; what they make of the intent is drafted under any number."""
    spec = check_intent(intent, platform.catalog)
    facts, terms = gather_facts(platform, intent, spec), policy_terms(platform)
    transform = choose_transform(spec, intent.transform_version)
    assert transform is not None, "check_intent refuses an unknown version first"

    def draft(number: int) -> Manifest:
        run_id = build_run_id(
            planned_on=facts.now.date(),
            table=intent.table,
            version=transform.version,
            number=number,
        )
        return build_manifest(intent, platform.catalog, facts, terms, run_id)

    return facts.now, transform.version, draft


def _new_run(intent: Intent, manifest: Manifest) -> NewRun:
    return NewRun(
        run_id=manifest.run_id,
        group_id=manifest.group_id,
        origin=intent.origin,
        table=intent.table,
        kind=manifest.kind,
        mode=manifest.mode,
        transform_version=manifest.transform.version,
        days=manifest.target.partitions,
        valid_until=manifest.valid_until,
        replaces=intent.replaces,
        cost_usd=manifest.estimate.cost_usd.expected,
        manifest_json=manifest_json(manifest),
        manifest_digest=manifest.digest,
        actor=intent.requested_by,
        reason=intent.reason,
    )
