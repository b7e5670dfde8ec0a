"""What gates say: one verdict per gate and partition, with the figures it rests on.

Which gates a table has follows from what it declares (`domain.quality.gates_of`), and a run is held
to those that its manifest names: a gate of those without a verdict is a refusal.
"""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum


class Gate(StrEnum):
    """In the order in which they judge: what cannot be trusted at all comes first."""

    # technical
    PARTITIONS_COMPLETE = "partitions_complete"  # every day of the chunk is staged
    ROWS_PRESENT = "rows_present"  # a day has rows, as many as the table declares
    LINEAGE_COMPLETE = "lineage_complete"  # every row names its run, its code and its input
    REJECTS_BOUNDED = "rejects_bounded"  # no more rows were set aside than the table allows
    # schema
    SCHEMA_CONTRACT = "schema_contract"  # what was landed and staged has the declared columns
    # quality
    KEY_UNIQUE = "key_unique"  # no two rows of a day share the key
    VALUES_VALID = "values_valid"  # nulls and values as the pandera model demands
    RELATIONS_KEPT = "relations_kept"  # what rows refer to is there
    INSTANTS_BOUNDED = "instants_bounded"  # instants lie where they can lie for their day
    PRIVACY_KEPT = "privacy_kept"  # no listed subject is back, and masked columns show no raw value
    # reconciliation
    RECONCILED = "reconciled"  # declared measures agree between input and output
    GOLDEN_KEPT = "golden_kept"  # figures that were once agreed upon are still what comes out
    # reasonableness
    CHANGE_EXPECTED = "change_expected"  # against what is accepted, no figure moves unexpectedly
    LATE_DATA = "late_data"  # how much arrived after the day was accepted


class GateSeverity(StrEnum):
    """What follows where a gate does not pass; the strictest first."""

    BLOCK = "BLOCK"  # nothing of the chunk is published
    HOLD = "HOLD"  # it is published once an owner has reviewed the figures
    WARN = "WARN"  # it is said, and stands in the evidence

    def is_milder_than(self, other: "GateSeverity") -> bool:
        order = tuple(GateSeverity)
        return order.index(self) > order.index(other)


class Outcome(StrEnum):
    PASSED = "PASSED"
    WARNED = "WARNED"  # it strays, and the table says that a warning is enough
    HELD = "HELD"  # it strays, and somebody who owns the table has to look before publication
    FAILED = "FAILED"  # it strays, or it could not be computed


STRAYED = {
    GateSeverity.BLOCK: Outcome.FAILED,
    GateSeverity.HOLD: Outcome.HELD,
    GateSeverity.WARN: Outcome.WARNED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedFigure:
    """One line of what a verdict rests on."""

    name: str  # of the measure, the check, the column, …
    value: str = ""  # of the dimension it is counted by
    expected: str
    found: str
    strays: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    gate: Gate
    day: date
    outcome: Outcome
    expected: str
    found: str
    message: str  # empty when it passed
    figures: tuple[JudgedFigure, ...] = ()  # those that stray first; never a row's own values

    @property
    def has_passed(self) -> bool:
        return self.outcome is Outcome.PASSED

    @property
    def is_refusal(self) -> bool:
        """Nobody's word makes up for it: the chunk has failed."""
        return self.outcome is Outcome.FAILED

    @property
    def is_held(self) -> bool:
        """Published only after a review of exactly this."""
        return self.outcome is Outcome.HELD
