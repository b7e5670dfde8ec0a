"""Whether what is deployed here is still what a manifest names.

Invariant: a run uses the transform version, code, configuration, distributions and reference data
of its manifest, and is judged by what its table declared then; if anything differs it refuses to
start (test_a_run_refuses_code_that_changed_since_it_was_planned).
"""

from collections.abc import Iterator

from backfill_platform.domain.errors import ManifestDrifted
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.quality_digest import quality_digest
from backfill_platform.domain.tables import TableSpec
from backfill_platform.domain.transforms import TransformVersion
from backfill_platform.engine.plan.code import code_digest
from backfill_platform.engine.plan.code_facts import config_hash, lock_digest
from backfill_platform.engine.plan.references import reference_digests
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
        *_transform_drift(platform, manifest, spec, transform),
        *_schema_drift(platform, manifest),
        *_quality_drift(manifest, spec),
        *_reference_drift(platform, manifest),
    )
    if moved:
        raise ManifestDrifted(manifest.run_id, moved)
    return transform


def _transform_drift(
    platform: Platform, manifest: Manifest, spec: TableSpec, transform: TransformVersion
) -> Iterator[str]:
    pinned = manifest.transform
    name = f"{pinned.name}/{pinned.version}"
    yield from _differs(f"the code of {name}", pinned.code_digest, code_digest(transform.function))
    yield from _differs("the configuration", pinned.config_hash, config_hash(spec))
    yield from _differs("the installed distributions", pinned.lock_digest, lock_digest())
    image = pinned.container_image or ""
    yield from _differs("the container image", image, platform.container_image)


def _schema_drift(platform: Platform, manifest: Manifest) -> Iterator[str]:
    pinned = {one.name: one.schema_digest for one in manifest.inputs}
    pinned[manifest.target.table] = manifest.target.schema_digest
    for name, planned in pinned.items():
        contract = platform.catalog.contracts.get(name)
        yield from _differs(f"the schema of {name}", planned, contract.digest if contract else "")


def _quality_drift(manifest: Manifest, spec: TableSpec) -> Iterator[str]:
    """What was agreed to is to be judged as it was then; a run of an older format names nothing."""
    planned = manifest.validation.quality_digest
    if planned is not None:
        what = f"what {spec.full_name} declares about its content"
        yield from _differs(what, planned, quality_digest(spec))


def _reference_drift(platform: Platform, manifest: Manifest) -> Iterator[str]:
    for pinned in manifest.references:
        found = reference_digests(platform.catalog, pinned.name).get(pinned.version, "")
        yield from _differs(f"reference data {pinned.name}/{pinned.version}", pinned.digest, found)


def _differs(what: str, planned: str, deployed: str) -> Iterator[str]:
    if planned != deployed:
        yield f"{what}: planned {_short(planned)}, deployed {_short(deployed)}"


def _short(text: str) -> str:
    return text[:12] or "nothing"
