"""How what is staged differs from what is accepted: counted, measured, and a few rows of it.

These values only hold what was found. Figures are exact where the column is; what was found by
floating numbers is rounded and says so. Values of single rows stand in `SampledRow` alone.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from enum import StrEnum

from backfill_platform.domain.canonical import canonical_json
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.plain import to_plain

_WIDE = Context(prec=60)  # a sum of Spark's widest decimals, and then some
_MILLIONTH = Decimal("0.000001")


class Change(StrEnum):
    """What becomes of a key."""

    ADDED = "ADDED"
    REMOVED = "REMOVED"
    CHANGED = "CHANGED"
    UNCHANGED = "UNCHANGED"  # only of rows that somebody asked for


class Sample(StrEnum):
    """Why a row is shown."""

    LARGEST = "LARGEST"  # its numbers move the most
    RANDOM = "RANDOM"  # drawn by the run's digest, and so the same each time
    WATCHED = "WATCHED"  # asked for by its key


class DriftUnit(StrEnum):
    """In what a difference is told."""

    NUMBER = ""
    DAYS = "days"  # between dates
    SECONDS = "seconds"  # between instants


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeCount:
    """How many keys are new, gone, other or the same, for one value of a dimension."""

    value: str
    added: int
    removed: int
    changed: int
    unchanged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DimensionCounts:
    column: str
    values: tuple[ChangeCount, ...]  # in their order; those that change the most where many differ
    more_values: int  # that are left out


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnDrift:
    """How far one column moves, over all rows that differ.

    A number that is missing on one side counts as zero there, so the sum of the differences is what
    the total moves by. A date or an instant has a distance only where both sides have one.
    """

    column: str
    unit: DriftUnit
    is_exact: bool
    rows: int  # whose difference is not zero
    sum_of_differences: Decimal | None  # None where it is no finite number
    sum_of_absolute_differences: Decimal | None
    greatest_difference: Decimal | None  # with its sign
    mean_difference: Decimal | None  # over `rows`
    total_before: Decimal | None  # of numbers alone, over all rows of the changed partitions
    total_after: Decimal | None


def mean_difference(total: Decimal | None, rows: int) -> Decimal | None:
    if total is None or not rows:
        return None
    return _WIDE.divide(total, Decimal(rows)).quantize(_MILLIONTH, context=_WIDE)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedKey:
    """What becomes of the rows that somebody asked for by (a part of) their key."""

    key: Mapping[str, str]
    added: int
    removed: int
    changed: int
    unchanged: int

    @property
    def is_missing(self) -> bool:
        """On both sides."""
        return not (self.added or self.removed or self.changed or self.unchanged)


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """Between the rows of both sides, in the partitions that were read."""

    totals: ChangeCount
    by_column: Mapping[str, int]  # changed rows by column that changed; only such columns
    dimensions: tuple[DimensionCounts, ...]
    drift: tuple[ColumnDrift, ...]
    watched: tuple[WatchedKey, ...]
    largest: int  # rows in each sample
    random: int
    not_kept: int  # counted, and not written: about subjects who are to be forgotten


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDifferences:
    """What a run would change, as it is staged now."""

    run_id: RunId
    table: str
    base_version: int | None  # None: an empty table
    days: PartitionSet
    changed_days: PartitionSet | None  # that were read on both sides
    equal_days: PartitionSet | None  # by count and checksum, and not read
    equal_rows: int
    added_columns: tuple[str, ...]
    removed_columns: tuple[str, ...]
    found: Differences

    @property
    def digest(self) -> str:
        return hashlib.sha256(canonical_json(to_plain(self)).encode()).hexdigest()

    @property
    def unchanged_rows(self) -> int:
        return self.found.totals.unchanged + self.equal_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedValue:
    column: str
    before: str  # as text; empty where there is none, and never a private value
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledRow:
    key: Mapping[str, str]
    change: Change
    values: tuple[ChangedValue, ...]
