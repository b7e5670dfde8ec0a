"""Opens a run for its first chunk: planned now, joined by its origin, or planned and named before.

Everything that forbids computing is looked at here, before a chunk is claimed: consent, what is
deployed, whether the inputs can still be read as planned, and whether the plan is still valid.
"""

from collections.abc import Callable, Mapping

from backfill_platform.domain.approvals import ConsentPoint
from backfill_platform.domain.errors import ApprovalMissing, ManifestDrifted, RunStopped
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.lifecycle import NOT_BEGUN, STOPPED, RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.engine.carry_out.boundaries import refuse_rollback
from backfill_platform.engine.carry_out.deployment import pinned_transform
from backfill_platform.engine.carry_out.progress import move_run
from backfill_platform.engine.carry_out.scopes import refuse_never_published, refuse_split_launch
from backfill_platform.engine.consent.consents import consent_of, refuse_without_consent
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.plan.inputs import moved_inputs
from backfill_platform.engine.plan.planning import keep_plan, plan_run
from backfill_platform.engine.plan.target_schema import moved_columns
from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.delta_tables import create_staging_table, create_table
from backfill_platform.planner.launch import refuse_split_inputs

NOTHING_ELSE: Mapping[str, PartitionSet] = {}


def open_run(
    platform: Platform,
    intent: Intent,
    *,
    launched: Mapping[str, PartitionSet] = NOTHING_ELSE,
    publishes: DayRange | None = None,
    examine: Callable[[Intent], None] = lambda _: None,
) -> Manifest:
    """The run of this intent: planned now, or joined when its origin is known already.

    `launched` names all tables of the same launch with their days; what cannot go together is
    refused by whichever of them comes first, before anything is computed. `publishes` names the
    days whose publication follows at once, so that what forbids it is told before computing.
    `examine` looks at the transform where Spark is at hand, before anything is recorded.
    """
    refuse_split_inputs(launched, platform.catalog)
    examine(intent)
    return start_run(platform, plan_run(platform, intent).run_id, publishes=publishes)


def start_run(platform: Platform, run_id: RunId, *, publishes: DayRange | None = None) -> Manifest:
    """Ready for chunks; again for every chunk, and then only what may change is looked at."""
    manifest = load_manifest(platform, run_id)
    refuse_rollback(manifest)
    state = platform.ledger.run(run_id).state
    if state in STOPPED:
        raise RunStopped(f"Run {run_id} is {state}; plan a new one with `backfill plan`")
    if publishes is not None:
        _refuse_publication_to_come(platform, manifest, publishes)
    if state in NOT_BEGUN:
        _begin(platform, manifest, state)
    return manifest


def _begin(platform: Platform, manifest: Manifest, state: RunState) -> None:
    _refuse_expired(platform, manifest, state)
    pinned_transform(platform, manifest)
    moved = (*moved_inputs(platform, manifest), *moved_columns(platform, manifest))
    if moved:
        raise ManifestDrifted(manifest.run_id, moved)
    refuse_without_consent(platform, manifest, ConsentPoint.STAGING)
    keep_plan(platform, manifest)
    _create_tables(platform, manifest)
    if state is not RunState.APPROVED:
        move_run(platform, manifest.run_id, state, RunState.APPROVED, _why_approved(manifest))


def _refuse_expired(platform: Platform, manifest: Manifest, state: RunState) -> None:
    if platform.clock() < manifest.valid_until:
        return
    cause = f"nobody began it before {manifest.valid_until:%Y-%m-%d %H:%M} UTC"
    move_run(platform, manifest.run_id, state, RunState.EXPIRED, cause)
    raise RunStopped(f"Run {manifest.run_id} has expired: {cause}. Plan it again")


def _refuse_publication_to_come(platform: Platform, manifest: Manifest, days: DayRange) -> None:
    """In the first seconds, and not after an hour of computing."""
    refuse_never_published(platform, manifest)
    refuse_split_launch(manifest, days)
    missing = consent_of(platform, manifest).missing
    run_id = manifest.run_id
    if missing:
        raise ApprovalMissing(
            f"Run {run_id} is planned, and this launch would publish it without the approval of "
            f"{' and '.join(missing)} (rule {manifest.approval.rule!r}). Two roads lead on, both "
            f"with the tag `backfill/run: {run_id}`: approve first (`backfill approve {run_id}`, "
            "then launch the same again), or review first (launch the staging asset alone, look at "
            f"its checks and at `backfill compare {run_id}`, approve, then launch the table)"
        )
    if manifest.safety.requires_manual_publish:
        raise ApprovalMissing(
            f"Run {run_id} is to be published by hand: launch its staging asset alone with the tag "
            f"`backfill/run: {run_id}`, and then `backfill publish {run_id}`"
        )


def _create_tables(platform: Platform, manifest: Manifest) -> None:
    """What chunks write to, before two of them could create it at once."""
    table = manifest.target.table
    spec, contract = platform.catalog.tables[table], platform.catalog.contracts[table]
    target = platform.warehouse.table_path(table)
    staging = platform.warehouse.staging_path(table, manifest.run_id)
    day, version = spec.partition_column, spec.version_column
    create_table(
        target,
        contract,
        partition_column=day,
        version_column=version,
        planned=manifest.target.schema_changes,
    )
    create_staging_table(staging, contract, partition_column=day, version_column=version)


def _why_approved(manifest: Manifest) -> str:
    asked = manifest.approval
    if not asked.roles:
        return f"rule {asked.rule!r} asks nobody"
    if asked.before is ConsentPoint.PUBLICATION:
        return f"rule {asked.rule!r} asks for consent before publication, not before computing"
    return f"{' and '.join(asked.roles)} agreed"
