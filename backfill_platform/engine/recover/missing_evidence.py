"""Adds to a run's evidence what its worker died before it could keep, as it would have told it."""

import json

from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.publications import Compaction
from backfill_platform.engine.consent.consents import await_consent
from backfill_platform.engine.plan.planning import keep_plan
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.publishing import ChunkPublication, keep_publication
from backfill_platform.engine.records import keep_verdicts
from backfill_platform.engine.recover.remedies import KeepPlan, KeepPublication, KeepVerdicts
from backfill_platform.engine.rollback.planning import keep_rollback_plan
from backfill_platform.lakehouse.delta_log import read_commit


def complete_evidence(
    platform: Platform, manifest: Manifest, remedy: KeepPlan | KeepVerdicts | KeepPublication
) -> None:
    match remedy:
        case KeepPlan() if manifest.undoes is not None:
            keep_rollback_plan(platform, manifest)
        case KeepPlan():
            keep_plan(platform, manifest)
            await_consent(platform, manifest)
        case KeepVerdicts(days=days):
            verdicts = platform.ledger.verdicts(manifest.run_id, days)
            keep_verdicts(platform, manifest.run_id, days, verdicts)
        case KeepPublication():
            done = _publication(platform, manifest, remedy)
            keep_publication(platform, manifest.run_id, remedy.days, done)


def _publication(
    platform: Platform, manifest: Manifest, remedy: KeepPublication
) -> ChunkPublication:
    """As whoever published it would have told it."""
    accepted = platform.ledger.accepted(manifest.target.table, remedy.days)
    changed = frozenset(remedy.changed)
    return ChunkPublication(
        changed=remedy.changed,
        unchanged=tuple(day for day in remedy.days if day not in changed),
        compaction=_compaction(platform, manifest, remedy),
        accepted=tuple(accepted.values()),
        version=remedy.version,
    )


def _compaction(
    platform: Platform, manifest: Manifest, remedy: KeepPublication
) -> Compaction | None:
    """The commit names the versions; which of its days they rearranged stands in these."""
    path = platform.warehouse.table_path(manifest.target.table)
    commit = None if remedy.version is None else read_commit(path, remedy.version)
    said = json.loads(commit.user_metadata or "{}") if commit else {}
    versions = tuple(said.get("base_compacted_in", ()))
    touched = {
        day
        for version in versions
        if (compacting := read_commit(path, version)) is not None
        for day in compacting.removed.values()
    }
    days = tuple(day for day in remedy.changed if day in touched)
    return Compaction(days=days, versions=versions) if versions else None
