"""Reads a run's manifest from the ledger and trusts it only if its digest still names it.

Invariant: a manifest that was changed after it was planned is never carried out
(test_a_changed_manifest_is_never_carried_out).
"""

from backfill_platform.domain.errors import EvidenceBroken
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.manifests import Manifest, manifest_digest, manifest_from_json
from backfill_platform.domain.runs import RunRecord
from backfill_platform.engine.platform import Platform


def load_manifest(platform: Platform, run_id: RunId) -> Manifest:
    return read_manifest(platform.ledger.run(run_id))


def read_manifest(record: RunRecord) -> Manifest:
    if manifest_digest(record.manifest_json) != record.manifest_digest:
        raise EvidenceBroken(
            f"The manifest of run {record.run_id} is not the one that was planned: its digest is "
            f"no longer {record.manifest_digest[:16]}. `backfill verify {record.run_id}` says more"
        )
    return manifest_from_json(record.manifest_json)
