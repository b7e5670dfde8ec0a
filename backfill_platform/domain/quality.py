"""What a table promises about its content beyond its schema, and how far a run may stray from it.

These values only hold the declaration; `domain.declared_quality` refuses a wrong one, and
`validator.gates` judges by it. A run may be planned with other severities, tolerances and expected
changes: they stand in its manifest, where whoever approves reads them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any

from backfill_platform.domain.partitions import Boundary
from backfill_platform.domain.verdicts import Gate, GateSeverity

ROW_COUNT = "row_count"  # a measure that every table has


class WatermarkPolicy(StrEnum):
    """When a day is closed, where history is computed again.

    Either way a day reads the partitions of its own window, whatever else its chunk reads, and
    nothing advances while it is computed: no order of rows, files or chunks closes it early.
    """

    BY_TIME_PARTITION = "BY_TIME_PARTITION"  # from what is there; days still open are named
    BY_COMPLETE_WINDOW = "BY_COMPLETE_WINDOW"  # only when every partition of its window is there


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """Whichever of the two allows more."""

    absolute: Decimal = Decimal(0)
    percent: Decimal = Decimal(0)  # of the expected figure

    def allows(self, expected: Decimal | int, found: Decimal | int) -> bool:
        allowed = max(self.absolute, abs(Decimal(expected)) * self.percent / 100)
        return abs(Decimal(found) - Decimal(expected)) <= allowed


EXACT = Tolerance()


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A figure that is taken from the staged rows of each day, for trends, bounds and people."""

    name: str
    expression: str  # an SQL aggregate over the rows of the table
    by: tuple[str, ...] = ()  # columns of the table; one figure for each of their values


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """What rows refer to has to be there: rows of an input, or what reference data knows.

    A null refers to nothing and passes, as in SQL.
    """

    name: str
    columns: tuple[str, ...]  # of this table
    to: str  # the name of an input, or of reference data
    to_columns: tuple[str, ...] = ()  # of the input; the same names when nothing is said
    known: Callable[[Any], Iterable[str]] | None = None  # of reference data: the values it knows


@dataclass(frozen=True, slots=True, kw_only=True)
class InstantBound:
    """Where the instants of a column can lie, counted from the beginning of the row's day, in UTC.

    From `earliest` on, and before `latest`; a null passes.
    """

    column: str
    earliest: timedelta
    latest: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenFigure:
    """A figure that people once agreed upon, such as that of a report which was filed."""

    day: date
    measure: str
    figure: Decimal
    value: str = ""  # of the measure's dimension
    origin: str  # where it stands


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeBound:
    """How far a figure may move against what is accepted before somebody has to look."""

    measure: str  # a declared or a reconciled measure, or `row_count`
    fall_percent: Decimal
    rise_percent: Decimal
    per: Boundary = Boundary.DAY  # figures are summed over the chunk's days within it
    at_least: Decimal = Decimal(0)  # smaller differences are never remarkable


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedChange:
    """What whoever plans a run says in advance: it takes the place of the table's bound."""

    measure: str
    least_percent: Decimal  # -90: falls by at most ninety percent
    most_percent: Decimal  # -60: and by at least sixty


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    rows_least: int = 1  # of a day, unless the table may be empty
    rows_most: int | None = None
    # Of the usual number, the median of the days before: with less, a day counts as a gap.
    rows_least_share_of_usual: Decimal | None = None
    rejects_most: int = 0  # rows of a day that a transform may set aside
    relations: tuple[Relation, ...] = ()
    instants: tuple[InstantBound, ...] = ()
    measures: tuple[Measure, ...] = ()
    golden: tuple[GoldenFigure, ...] = ()
    changes: tuple[ChangeBound, ...] = ()
    late_rows: Tolerance | None = None  # of input that arrived after a day was accepted
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict[str, Tolerance])  # by measure
    severities: Mapping[Gate, GateSeverity] = field(default_factory=dict[Gate, GateSeverity])
    watched_keys: tuple[Mapping[str, str], ...] = ()  # such as disputed cases; always in the diff
    decimal_places: Mapping[str, int] = field(default_factory=dict[str, int])  # of floating columns
    watermark: WatermarkPolicy = WatermarkPolicy.BY_TIME_PARTITION


NOTHING_MORE = Quality()

USUAL_SEVERITY = dict.fromkeys(Gate, GateSeverity.BLOCK) | {
    Gate.CHANGE_EXPECTED: GateSeverity.HOLD,
    Gate.LATE_DATA: GateSeverity.WARN,
}

# Without these the other figures mean nothing, so no declaration and no run makes them milder.
UNBENDING = frozenset(
    {
        Gate.PARTITIONS_COMPLETE,
        Gate.LINEAGE_COMPLETE,
        Gate.SCHEMA_CONTRACT,
        Gate.KEY_UNIQUE,
        Gate.PRIVACY_KEPT,
    }
)

# Every table has these; the others where it declares what they judge by.
_ALWAYS = frozenset(
    {
        Gate.PARTITIONS_COMPLETE,
        Gate.ROWS_PRESENT,
        Gate.LINEAGE_COMPLETE,
        Gate.REJECTS_BOUNDED,
        Gate.SCHEMA_CONTRACT,
        Gate.KEY_UNIQUE,
        Gate.VALUES_VALID,
        Gate.RECONCILED,
    }
)


def gates_of(quality: Quality, *, is_private: bool) -> tuple[Gate, ...]:
    """In the order in which they judge."""
    declared = {
        Gate.RELATIONS_KEPT: bool(quality.relations),
        Gate.INSTANTS_BOUNDED: bool(quality.instants),
        Gate.PRIVACY_KEPT: is_private,
        Gate.GOLDEN_KEPT: bool(quality.golden),
        Gate.CHANGE_EXPECTED: bool(quality.changes),
        Gate.LATE_DATA: quality.late_rows is not None,
    }
    return tuple(gate for gate in Gate if gate in _ALWAYS or declared.get(gate, False))
