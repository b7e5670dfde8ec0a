"""Plans a run: from an intent to a manifest in the ledger, open for its first chunk.

Whoever comes with the same origin joins the run that the first one planned.
"""

from collections.abc import Mapping

from backfill_platform.domain.identity import RunId, build_run_id
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest, manifest_from_json, manifest_json
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.runs import NewRun, RunRecord
from backfill_platform.engine.facts import gather_facts
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.records import bundle
from backfill_platform.lakehouse.delta_tables import create_staging_table, create_table
from backfill_platform.planner.launch import refuse_split_inputs
from backfill_platform.planner.plan import build_manifest, check_intent
from backfill_platform.planner.scope import choose_transform

NOTHING_ELSE: Mapping[str, PartitionSet] = {}


def open_run(
    platform: Platform, intent: Intent, *, launched: Mapping[str, PartitionSet] = NOTHING_ELSE
) -> Manifest:
    """The run of this intent: planned now, or joined when its origin is known already.

    `launched` names all tables of the same launch with their days; what cannot go together is
    refused by whichever of them comes first, before anything is computed.
    """
    refuse_split_inputs(launched, platform.catalog)
    known = platform.ledger.run_by_origin(intent.origin)
    record = known or _plan(platform, intent)
    manifest = manifest_from_json(record.manifest_json)
    if record.state is RunState.PLANNED:
        _open(platform, manifest)
    return manifest


def load_manifest(platform: Platform, run_id: RunId) -> Manifest:
    return manifest_from_json(platform.ledger.run(run_id).manifest_json)


def _plan(platform: Platform, intent: Intent) -> RunRecord:
    spec = check_intent(intent, platform.catalog)
    facts = gather_facts(platform, intent, spec)
    transform = choose_transform(spec, intent.transform_version)
    assert transform is not None, "check_intent refuses an unknown version first"

    def new_run(number: int) -> NewRun:
        run_id = build_run_id(
            planned_on=facts.now.date(),
            table=intent.table,
            version=transform.version,
            number=number,
        )
        return _new_run(intent, build_manifest(intent, platform.catalog, facts, run_id))

    return platform.ledger.register_run(
        new_run,
        table=intent.table,
        transform_version=transform.version,
        planned_on=facts.now.date(),
        now=facts.now,
    )


def _new_run(intent: Intent, manifest: Manifest) -> NewRun:
    return NewRun(
        run_id=manifest.run_id,
        group_id=manifest.group_id,
        origin=intent.origin,
        table=intent.table,
        kind=manifest.kind,
        mode=manifest.mode,
        transform_version=manifest.transform.version,
        manifest_json=manifest_json(manifest),
        manifest_digest=manifest.digest,
        actor=intent.requested_by,
        reason=intent.reason,
    )


def _open(platform: Platform, manifest: Manifest) -> None:
    """Creates what chunks write to, before two of them could create it at once."""
    table = manifest.target.table
    spec, contract = platform.catalog.tables[table], platform.catalog.contracts[table]
    target = platform.warehouse.table_path(table)
    staging = platform.warehouse.staging_path(table, manifest.run_id)
    create_table(target, contract, partition_column=spec.partition_column)
    create_staging_table(staging, contract, partition_column=spec.partition_column)
    bundle(platform, manifest.run_id).write_manifest(manifest_json(manifest))
    platform.ledger.move(
        manifest.run_id,
        RunState.PLANNED,
        RunState.APPROVED,
        actor=manifest.requested_by,
        cause="no approval is asked for",
        details={"manifest_digest": manifest.digest},
        now=platform.clock(),
    )
