"""What gates say: one verdict per gate and partition, with the figures it rests on."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum


class Gate(StrEnum):
    PARTITIONS_COMPLETE = "partitions_complete"  # every day of the chunk is staged
    ROWS_PRESENT = "rows_present"  # a day has rows, unless the table may be empty
    KEY_UNIQUE = "key_unique"  # no two rows of a day share the key
    SCHEMA_CONTRACT = "schema_contract"  # nulls and values as the contract demands
    RECONCILED = "reconciled"  # declared measures agree between input and output
    PRIVACY_KEPT = "privacy_kept"  # no listed subject is back, and masked columns show no raw value


class Outcome(StrEnum):
    PASSED = "PASSED"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    gate: Gate
    day: date
    outcome: Outcome
    expected: str
    found: str
    message: str  # empty when it passed

    @property
    def has_passed(self) -> bool:
        return self.outcome is Outcome.PASSED
