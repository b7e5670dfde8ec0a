"""By which rules the chunks of a run are judged: those that its manifest pins."""

from dataclasses import replace

from backfill_platform.domain.manifests import Manifest, Validation
from backfill_platform.domain.privacy import Protection
from backfill_platform.domain.tables import TableSpec
from backfill_platform.domain.verdicts import Gate
from backfill_platform.engine.platform import Platform
from backfill_platform.planner.validation import declared_severities
from backfill_platform.validator.gates.rules import GateRules, build_rules


def run_rules(platform: Platform, manifest: Manifest, protection: Protection) -> GateRules:
    spec = platform.catalog.tables[manifest.target.table]
    contract = platform.catalog.contracts[spec.full_name]
    return build_rules(spec, contract, judged_by(spec, manifest), protection.promises)


def judged_by(spec: TableSpec, manifest: Manifest) -> Validation:
    """A run that was planned before manifests said it is judged as its table declares today. That
    may ask for more gates than its manifest names, and never for fewer."""
    planned = manifest.validation
    if planned.quality_digest is not None:
        return planned
    named = {Gate(name) for name in planned.gates} | {*spec.gates}
    return replace(
        planned,
        gates=tuple(gate.value for gate in Gate if gate in named),
        severities={gate.value: said for gate, said in declared_severities(spec).items()},
        tolerances=spec.quality.tolerances,
        changes=spec.quality.changes,
    )
