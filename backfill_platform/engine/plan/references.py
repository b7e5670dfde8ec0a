"""Reference data as it is deployed: the digest of each version, and which ones were used before."""

import hashlib
from collections.abc import Mapping

from backfill_platform.domain.catalog import Catalog
from backfill_platform.domain.intents import Intent
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform


def reference_digests(catalog: Catalog, name: str) -> Mapping[str, str]:
    return {
        known.version: hashlib.sha256(known.path.read_bytes()).hexdigest()
        for known in catalog.references[name].versions
    }


def original_references(platform: Platform, intent: Intent) -> dict[str, frozenset[str]]:
    """By reference name, the versions that the runs used whose output is accepted now."""
    accepted = platform.ledger.accepted(intent.table, intent.days)
    manifests = [load_manifest(platform, run) for run in {one.run_id for one in accepted.values()}]
    used = [pinned for manifest in manifests for pinned in manifest.references]
    return {
        name: frozenset(pinned.version for pinned in used if pinned.name == name)
        for name in {pinned.name for pinned in used}
    }
