"""Numbers taken from data, one record per partition; what gates judge and evidence keeps.

They are counts and sums: nothing in here is a row's own value. What was not measured is None, and
never zero.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

EMPTY_CHECKSUM = "0:0000000000000000"

Figure = int | Decimal  # exact: a float would differ with the order of its summands

# By measure, then by value of the dimension; several columns as `US-CA / OPEN`.
Dimensioned = Mapping[str, Mapping[str, Figure]]


def _no_figures() -> dict[str, Mapping[str, Figure]]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionMeasurement:
    """What one pass over the staged rows of one partition found."""

    day: date
    row_count: int
    checksum: str  # order-independent, over the business columns only
    duplicate_keys: int
    null_counts: Mapping[str, int]  # by column that may not be null
    check_failures: Mapping[str, int]  # rows that fail, by name of the check
    measures: Mapping[str, Figure]  # declared measures and those to reconcile, from the output
    # Rows that show what they may not, by what was promised; numbers alone, and nobody's name.
    private_rows: Mapping[str, int] = field(default_factory=dict[str, int])
    by_dimension: Dimensioned = field(default_factory=_no_figures)
    rows_without_lineage: int | None = None
    rejected: Mapping[str, int] | None = None  # rows that were set aside, by reason
    orphans: Mapping[str, int] | None = None  # rows that refer to nothing, by relation
    misplaced_instants: Mapping[str, int] | None = None  # rows outside its bounds, by column
    shape_problems: tuple[str, ...] | None = None  # of what was landed and staged, as sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMeasurement:
    """The declared reconciliation measures of one day, reckoned from the inputs."""

    day: date
    measures: Mapping[str, Figure]
    by_dimension: Dimensioned = field(default_factory=_no_figures)


@dataclass(frozen=True, slots=True)
class Content:
    """What a partition holds, as far as anybody can tell two contents apart."""

    row_count: int
    checksum: str


def content_by_day(
    measured: Iterable[PartitionMeasurement], days: Iterable[date]
) -> dict[date, Content]:
    """A day without a measurement has no rows: Spark groups nothing where there is nothing."""
    known = {one.day: Content(one.row_count, one.checksum) for one in measured}
    return {day: known.get(day, Content(0, EMPTY_CHECKSUM)) for day in days}


def combined_checksum(measured: Iterable[PartitionMeasurement]) -> str:
    """One checksum of a chunk, from those of its partitions."""
    lines = sorted(f"{one.day} {one.row_count} {one.checksum}" for one in measured)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
