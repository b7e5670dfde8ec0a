"""What a run's gate said of a day and when, and what a run measured there: lines of a history.

The verdict itself, with its figures, is `domain.verdicts`.
"""

from dataclasses import dataclass
from datetime import date, datetime

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.domain.verdicts import Gate, Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    run_id: RunId
    day: date
    gate: Gate
    outcome: Outcome
    judged_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredDay:
    """What a run staged of a day, as it was measured last."""

    run_id: RunId
    measured: PartitionMeasurement
