"""Whether figures are such as one expects after what is accepted now; a surprise is no error yet.

A figure is summed over the judged days of its unit that something is accepted for, on both sides:
a day that is published for the first time has nothing to be compared with.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from backfill_platform.domain.measurements import Figure, PartitionMeasurement
from backfill_platform.domain.partitions import Boundary
from backfill_platform.domain.quality import ChangeBound
from backfill_platform.validator.gates.change import Change
from backfill_platform.validator.gates.facts import Facts, Found, figure_of, unmeasured
from backfill_platform.validator.gates.wording import (
    allowed,
    counted_in,
    rows,
    said,
    with_remedy,
)

NOTHING_ACCEPTED = "nothing is accepted yet"
_FIRST = Found(expected=NOTHING_ACCEPTED, found=NOTHING_ACCEPTED)


def change_expected(facts: Facts, day: date) -> Found:
    if day not in facts.accepted:
        return _FIRST
    units = [(bound, _unit(facts, bound.per, day)) for bound in facts.rules.changes]
    missing = [what for bound, unit in units for what in _unmeasured_in(facts, bound, unit)]
    if missing:
        return unmeasured(
            dict.fromkeys(missing), "stage the day again, and have what is accepted measured"
        )
    changes = [change for bound, unit in units for change in _changes(facts, bound, unit)]
    straying = [change for change in changes if change.strays]
    return Found(
        expected=f"{counted_in('figure', len(changes))} within bounds",
        found=f"{len(changes) - len(straying)} of {len(changes)}",
        figures=tuple(change.figure for change in changes),
        strays=with_remedy([change.cause for change in straying], "look at the diff"),
    )


def late_data(facts: Facts, day: date) -> Found:
    if day not in facts.accepted and day not in facts.late_rows:
        return _FIRST
    late, tolerance = facts.late_rows.get(day), facts.rules.late_rows
    if late is None or tolerance is None:
        return unmeasured(["input that arrived since the day was accepted"], "see its input's log")
    # A run that may use less than the one before it, such as what was known then, reads fewer rows.
    arrived = max(late.arrived_since, 0)
    strays = not tolerance.allows(late.computed_from, late.computed_from + arrived)
    cause = (
        f"{rows(arrived)} of input arrived after the day was accepted, which was "
        f"computed from {said(late.computed_from)}; tell whoever relies on the accepted figures"
    )
    return Found(
        expected=f"0 since{allowed(tolerance)}",
        found=f"{said(arrived)} since, {said(late.computed_from)} before",
        strays=cause if strays else "",
    )


def _unit(facts: Facts, per: Boundary, day: date) -> Sequence[date]:
    """The judged days of the day's own week or month that something is accepted for."""
    start = per.start_of(day)
    return [one for one in facts.days if per.start_of(one) == start and one in facts.accepted]


def _unmeasured_in(facts: Facts, bound: ChangeBound, unit: Sequence[date]) -> Iterator[str]:
    is_by_value = bound.measure in facts.rules.dimensions
    for day in unit:
        for where, measured in (
            ("staged", facts.staged.get(day)),
            ("accepted", facts.accepted[day]),
        ):
            if measured is None or not _knows(measured, bound.measure, is_by_value=is_by_value):
                yield f"{bound.measure} as {where} of {day}"


def _knows(measured: PartitionMeasurement, measure: str, *, is_by_value: bool) -> bool:
    if is_by_value and measure not in measured.by_dimension:
        return False
    return figure_of(measured, measure) is not None


def _changes(facts: Facts, bound: ChangeBound, unit: Sequence[date]) -> Iterator[Change]:
    measure = bound.measure
    before = _summed([facts.accepted[day] for day in unit], measure)
    after = _summed([facts.staged[day] for day in unit], measure)
    is_by_value = measure in facts.rules.dimensions
    is_expected = facts.rules.expected_change(measure) is not None
    for value in sorted({*before, *after}):
        yield Change(
            bound=bound,
            expectation=facts.rules.expected_change(measure),
            unit=_named_unit(bound.per, unit[0]),
            value=value,
            before=before.get(value, 0),
            after=after.get(value, 0),
            is_judged=(value == "") == (is_expected or not is_by_value),
        )


def _summed(measured: Sequence[PartitionMeasurement | None], measure: str) -> Mapping[str, Figure]:
    """By value of the dimension, and as a whole under the empty value."""
    sums: dict[str, Figure] = {"": 0}
    for one in measured:
        assert one is not None, "what was not measured was told before"
        sums[""] += figure_of(one, measure) or 0
        for value, figure in one.by_dimension.get(measure, {}).items():
            sums[value] = sums.get(value, 0) + figure
    return sums


def _named_unit(per: Boundary, day: date) -> str:
    match per:
        case Boundary.DAY:
            return ""
        case Boundary.WEEK:
            return f" in the week of {per.start_of(day)}"
        case Boundary.MONTH:
            return f" in {day:%Y-%m}"
