"""What each gate guards, as its check's page says it; one sentence for each gate."""

from collections.abc import Mapping

from backfill_platform.domain.quality import USUAL_SEVERITY
from backfill_platform.domain.tables import TableSpec
from backfill_platform.domain.verdicts import Gate, GateSeverity

_GUARDS: Mapping[Gate, str] = {
    Gate.PARTITIONS_COMPLETE: "Every day of the chunk is staged.",
    Gate.ROWS_PRESENT: "A day has rows, as many as the table declares.",
    Gate.LINEAGE_COMPLETE: "Every row names its run, its code and its input.",
    Gate.REJECTS_BOUNDED: "No more rows were set aside than the table allows.",
    Gate.SCHEMA_CONTRACT: "What was landed and staged has the declared columns.",
    Gate.KEY_UNIQUE: "No two rows of a day share the key.",
    Gate.VALUES_VALID: "Nulls and values are as the table's pandera model demands.",
    Gate.RELATIONS_KEPT: "What rows refer to is there.",
    Gate.INSTANTS_BOUNDED: "Instants lie where they can lie for their day.",
    Gate.PRIVACY_KEPT: "No row is about a listed subject, and no masked column shows raw values.",
    Gate.RECONCILED: "Declared measures agree between the inputs and the output.",
    Gate.GOLDEN_KEPT: "Figures that were once agreed upon are still what comes out.",
    Gate.CHANGE_EXPECTED: "Against what is accepted, no figure moves unexpectedly.",
    Gate.LATE_DATA: "How much of the input arrived after the day was accepted.",
}

_FOLLOWS: Mapping[GateSeverity, str] = {
    GateSeverity.BLOCK: "where it does not pass, nothing of its chunk is published",
    GateSeverity.HOLD: "where it does not pass, an owner reviews the figures before publication",
    GateSeverity.WARN: "where it does not pass, it is said and published all the same",
}


def describe_gate(spec: TableSpec, gate: Gate) -> str:
    """A run may be planned with another severity; its own results say so."""
    severity = spec.quality.severities.get(gate, USUAL_SEVERITY[gate])
    return f"{_GUARDS[gate]} {severity.value}: {_FOLLOWS[severity]}."


def describe_severity(severity: GateSeverity, override: str) -> str:
    said = f"{severity.value}: {_FOLLOWS[severity]}"
    return f"{said} ({override})" if override else said
