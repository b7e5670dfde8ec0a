"""What gates look at, and what each of them found before a severity says what follows from it.

What was not measured is told apart from zero here, once, for all gates.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from backfill_platform.domain.measurements import (
    EMPTY_CHECKSUM,
    Figure,
    PartitionMeasurement,
    SourceMeasurement,
)
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.quality import ROW_COUNT
from backfill_platform.domain.verdicts import JudgedFigure
from backfill_platform.validator.gates.rules import GateRules, LateRows


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Of all days that are judged together; `staged` holds every day that could be measured."""

    days: DayRange
    staged: Mapping[date, PartitionMeasurement]
    source: Mapping[date, SourceMeasurement]
    accepted: Mapping[date, PartitionMeasurement | None]
    late_rows: Mapping[date, LateRows | None]
    rules: GateRules


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Of one gate on one day; it passes where nothing strays and nothing is missing."""

    expected: str
    found: str
    figures: tuple[JudgedFigure, ...] = ()
    strays: str = ""  # what does, with its figures
    missing: str = ""  # what could not be computed, and what to do


def unmeasured(what: Iterable[str], remedy: str = "stage the day again") -> Found:
    """Nobody knows whether it would have passed."""
    message = f"nothing was measured of {', '.join(what)}; {remedy}"
    return Found(expected="a measurement", found="not measured", missing=message)


def figure_of(measured: PartitionMeasurement, measure: str) -> Figure | None:
    if measure == ROW_COUNT:
        return measured.row_count
    return measured.measures.get(measure)


def empty_day(day: date, rules: GateRules) -> PartitionMeasurement:
    """Spark groups nothing where there is nothing: a day that may be empty has zeros."""
    bounds = (bound.measure for bound in rules.changes)
    golden = (agreed.measure for agreed in rules.golden)
    measures = {*rules.reconciled, *rules.dimensions, *bounds, *golden} - {ROW_COUNT}
    return PartitionMeasurement(
        day=day,
        row_count=0,
        checksum=EMPTY_CHECKSUM,
        duplicate_keys=0,
        null_counts=dict.fromkeys(rules.not_null, 0),
        check_failures=dict.fromkeys(rules.checks, 0),
        measures=dict.fromkeys(sorted(measures), 0),
        private_rows=dict.fromkeys(rules.promises, 0),
        by_dimension={measure: {} for measure in rules.dimensions},
        rows_without_lineage=0,
        rejected={},
        orphans=dict.fromkeys(rules.relations, 0),
        misplaced_instants=dict.fromkeys(rules.instants, 0),
        shape_problems=(),
    )
