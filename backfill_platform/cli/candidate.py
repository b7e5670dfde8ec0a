"""Where the staged rows of a run can be read, when that is for others than its gates."""

from pathlib import Path

from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import PublishScope
from backfill_platform.lakehouse.paths import Warehouse
from backfill_platform.settings import load_settings

_READ_BY_OTHERS = frozenset({PublishScope.DARK, PublishScope.DUAL_READ})


def candidate_path(manifest: Manifest) -> Path | None:
    """An ordinary Delta table; nothing for a run whose staging nobody else is to read."""
    target = manifest.target
    if target.publish_scope not in _READ_BY_OTHERS:
        return None
    return Warehouse(load_settings().warehouse).staging_path(target.table, manifest.run_id)
