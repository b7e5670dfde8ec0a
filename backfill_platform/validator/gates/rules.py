"""By what a table's days are judged: what its declaration and the run's manifest say of its gates.

`build_rules` reads both; where they differ the manifest holds, for that is what people agreed to.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from backfill_platform.domain.contracts import Contract
from backfill_platform.domain.manifests import Validation
from backfill_platform.domain.quality import (
    EXACT,
    UNBENDING,
    USUAL_SEVERITY,
    ChangeBound,
    ExpectedChange,
    GoldenFigure,
    Tolerance,
)
from backfill_platform.domain.tables import TableSpec
from backfill_platform.domain.verdicts import Gate, GateSeverity


@dataclass(frozen=True, slots=True, kw_only=True)
class LateRows:
    """Input of a day: what its accepted version was computed from, and what has come since."""

    computed_from: int
    arrived_since: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRules:
    gates: tuple[Gate, ...]  # each gives one verdict on each day
    may_be_empty: bool
    rows_least: int = 1
    rows_most: int | None = None
    rejects_most: int = 0
    not_null: tuple[str, ...] = ()  # columns whose nulls must have been counted
    checks: tuple[str, ...] = ()  # of the model, whose failures must have been counted
    relations: tuple[str, ...] = ()
    instants: tuple[str, ...] = ()  # columns
    promises: tuple[str, ...] = ()  # names of what no row may show; see `domain.privacy`
    reconciled: tuple[str, ...]  # names of the measures that must agree with the input
    # By what a measure is counted; it must then have been measured by that, too.
    dimensions: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    golden: tuple[GoldenFigure, ...] = ()
    changes: tuple[ChangeBound, ...] = ()
    expected_changes: tuple[ExpectedChange, ...] = ()
    late_rows: Tolerance | None = None
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict[str, Tolerance])  # by measure
    severities: Mapping[Gate, GateSeverity] = field(default_factory=dict[Gate, GateSeverity])

    def severity(self, gate: Gate) -> GateSeverity:
        """Invariant: nothing that is declared or planned makes an unbending gate milder
        (test_an_unbending_gate_blocks_whatever_severity_it_is_given)."""
        if gate in UNBENDING:
            return GateSeverity.BLOCK
        return self.severities.get(gate, USUAL_SEVERITY[gate])

    def tolerance(self, measure: str) -> Tolerance:
        return self.tolerances.get(measure, EXACT)

    def expected_change(self, measure: str) -> ExpectedChange | None:
        return next((said for said in self.expected_changes if said.measure == measure), None)

    @property
    def reconciled_by_value(self) -> tuple[str, ...]:
        return tuple(name for name in self.reconciled if name in self.dimensions)


def build_rules(
    spec: TableSpec,
    contract: Contract,
    validation: Validation,
    promises: Iterable[str] = (),
) -> GateRules:
    quality = spec.quality
    return GateRules(
        gates=tuple(Gate(name) for name in validation.gates),
        may_be_empty=spec.may_be_empty,
        rows_least=quality.rows_least,
        rows_most=quality.rows_most,
        rejects_most=quality.rejects_most,
        not_null=tuple(column.name for column in contract.columns if not column.is_nullable),
        checks=contract.check_names,
        relations=tuple(relation.name for relation in quality.relations),
        instants=tuple(bound.column for bound in quality.instants),
        promises=tuple(promises),
        reconciled=tuple(spec.reconciliation.from_output),
        dimensions=_dimensions(spec),
        golden=quality.golden,
        changes=validation.changes,
        expected_changes=validation.expected_changes,
        late_rows=quality.late_rows,
        tolerances=validation.tolerances,
        severities={Gate(name): said for name, said in validation.severities.items()},
    )


def _dimensions(spec: TableSpec) -> dict[str, tuple[str, ...]]:
    by = spec.reconciliation.by
    reconciled = dict.fromkeys(spec.reconciliation.from_output, by) if by else {}
    declared = {measure.name: measure.by for measure in spec.quality.measures if measure.by}
    return reconciled | declared
