"""Whether what is deployed here is still what a manifest names.

Invariant: a run uses the transform version, code, configuration and reference data of its manifest;
if anything differs it refuses to start (test_a_run_refuses_code_that_changed_since_it_was_planned).
"""

from collections.abc import Iterator

from backfill_platform.domain.errors import ManifestDrifted
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.transforms import TransformVersion
from backfill_platform.engine.code import code_digest
from backfill_platform.engine.facts import config_hash, reference_digest
from backfill_platform.engine.platform import Platform


def pinned_transform(platform: Platform, manifest: Manifest) -> TransformVersion:
    """The transform that the manifest names, or a refusal that says what has moved."""
    spec = platform.catalog.tables.get(manifest.target.table)
    transform = spec.transform(manifest.transform.version) if spec else None
    if spec is None or transform is None:
        raise ManifestDrifted(
            manifest.run_id, (f"{manifest.target.table} no longer has this transform version",)
        )
    moved = (
        *_transform_drift(manifest, code_digest(transform.function), config_hash(spec)),
        *_reference_drift(platform, manifest),
    )
    if moved:
        raise ManifestDrifted(manifest.run_id, moved)
    return transform


def _transform_drift(manifest: Manifest, code: str, config: str) -> Iterator[str]:
    pinned = manifest.transform
    if code != pinned.code_digest:
        yield (
            f"the code of {pinned.name}/{pinned.version}: planned {pinned.code_digest[:12]}, "
            f"deployed {code[:12]}"
        )
    if config != pinned.config_hash:
        yield f"the configuration: planned {pinned.config_hash[:12]}, deployed {config[:12]}"


def _reference_drift(platform: Platform, manifest: Manifest) -> Iterator[str]:
    for pinned in manifest.references:
        found = reference_digest(platform, pinned.name, pinned.version)
        if found != pinned.digest:
            yield (
                f"reference data {pinned.name}/{pinned.version}: planned {pinned.digest[:12]}, "
                f"deployed {found[:12]}"
            )
