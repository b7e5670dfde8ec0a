"""What is looked at before a run may be planned: the checklist, as values.

A refusal stops the plan; a warning stands in the manifest, so whoever approves has read it.
"""

from dataclasses import dataclass
from enum import StrEnum


class Check(StrEnum):
    REASON_GIVEN = "reason_given"  # why these numbers change, and the ticket
    SOURCE_AVAILABLE = "source_available"  # for the whole input range, warm-up included
    WINDOWS_COMPLETE = "windows_complete"  # nothing that a day may use is still to arrive
    RETENTION_ALLOWS = "retention_allows"  # old data may still be used for this
    PRIVACY_ALLOWS = "privacy_allows"  # nothing restricted reaches a lower class
    NO_RUN_IN_FLIGHT = "no_run_in_flight"  # on these partitions
    STREAM_STATE = "stream_state"  # a stream that feeds the table is known and not ahead
    JUDGED_AS_DECLARED = "judged_as_declared"  # no more mildly than its table says
    SCHEMA_KEPT = "schema_kept"  # columns stay, or change as somebody consented to
    CAPACITY = "capacity"  # disk for what will be written
    ROLLBACK_POSSIBLE = "rollback_possible"  # what is replaced stays for a while
    STAKEHOLDERS_KNOWN = "stakeholders_known"  # who has to hear of it
    CODE_COMMITTED = "code_committed"  # the transform is what a commit holds
    DETERMINISTIC = "deterministic"  # the same run would give the same rows again
    WITHIN_LIMITS = "within_limits"  # rows and cost


class Severity(StrEnum):
    PASS = "PASS"
    WARN = "WARN"
    REFUSE = "REFUSE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    check: Check
    severity: Severity
    message: str
