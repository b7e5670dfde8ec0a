"""What computing a run again has shown: by day the content that was measured, and what came out."""

from dataclasses import dataclass
from datetime import date

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.measurements import Content
from backfill_platform.domain.partitions import DayRange, PartitionSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How it is computed again: in which chunks, with what parallelism, from rows in what order."""

    name: str
    chunks: tuple[DayRange, ...]
    shuffle_partitions: int | None = None  # nothing: as the session has it
    spreads_inputs: bool = False  # rows of the inputs are dealt out anew to as many partitions


@dataclass(frozen=True, slots=True, kw_only=True)
class DayDifference:
    day: date
    expected: Content  # as it was measured when the run was staged
    found: Content


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    way: Way
    row_count: int
    differing: tuple[DayDifference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    run_id: RunId
    table: str
    days: PartitionSet
    row_count: int  # as it was measured
    attempts: tuple[Attempt, ...]

    @property
    def is_equal(self) -> bool:
        return not any(attempt.differing for attempt in self.attempts)
