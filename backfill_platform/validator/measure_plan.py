"""What a measurement has to find, as one value that is made from a table's declaration. Pure.

`measure` takes it for the staged rows, and `measure_source` for what the inputs say.
"""

from dataclasses import dataclass, replace

from backfill_platform.domain.contracts import Contract
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.privacy import Protection
from backfill_platform.domain.quality import InstantBound, Measure
from backfill_platform.domain.tables import TableSpec

NOTHING_TO_PROTECT = Protection()


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurePlan:
    table: str  # for whoever has to mend its declaration
    contract: Contract
    partition_column: str
    keys: tuple[str, ...]
    reconciled: tuple[Measure, ...] = ()  # also reckoned from the inputs; parts add up to a day
    declared: tuple[Measure, ...] = ()  # of the output alone
    instants: tuple[InstantBound, ...] = ()
    protection: Protection = NOTHING_TO_PROTECT
    written_by: RunId | None = None  # every row; None where rows of earlier runs stay

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (*self.reconciled, *self.declared)

    @property
    def without_rules(self) -> "MeasurePlan":
        """Of rows whose rules somebody has judged already: content and measures alone."""
        contract = replace(self.contract, checks=(), uniques=(), by_pandera=())
        return replace(self, contract=contract, instants=(), written_by=None)


def plan_measurement(
    spec: TableSpec, contract: Contract, *, run_id: RunId, protection: Protection
) -> MeasurePlan:
    return MeasurePlan(
        table=spec.full_name,
        contract=contract,
        partition_column=spec.partition_column,
        keys=spec.keys,
        reconciled=tuple(
            Measure(name=name, expression=expression, by=spec.reconciliation.by)
            for name, expression in spec.reconciliation.from_output.items()
        ),
        declared=spec.quality.measures,
        instants=spec.quality.instants,
        protection=protection,
        written_by=run_id if spec.merge is None else None,
    )
