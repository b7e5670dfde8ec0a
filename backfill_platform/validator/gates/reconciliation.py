"""Whether figures are what they must be: what the input says, and what people once agreed upon.

By measure and, where both sides count by it, by value of the dimension; a value that one side does
not mention counts nothing there.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from backfill_platform.domain.measurements import Figure, PartitionMeasurement, SourceMeasurement
from backfill_platform.domain.quality import GoldenFigure, Tolerance
from backfill_platform.domain.verdicts import JudgedFigure
from backfill_platform.validator.gates.facts import Facts, Found, figure_of, unmeasured
from backfill_platform.validator.gates.rules import GateRules
from backfill_platform.validator.gates.wording import allowed, listed, named, said, with_remedy


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    measure: str
    value: str
    expected: Figure
    found: Figure
    tolerance: Tolerance

    @property
    def strays(self) -> bool:
        return not self.tolerance.allows(self.expected, self.found)

    @property
    def figure(self) -> JudgedFigure:
        return JudgedFigure(
            name=self.measure,
            value=self.value,
            expected=said(self.expected) + allowed(self.tolerance),
            found=said(self.found),
            strays=self.strays,
        )


def reconciled(facts: Facts, day: date) -> Found:
    rules, staged = facts.rules, facts.staged[day]
    # A day that the input does not mention is a day for which it counts nothing.
    source = facts.source.get(day, _counts_nothing(day, rules))
    missing = [*_unmeasured_in(source, rules, "input"), *_unmeasured_in(staged, rules, "output")]
    if missing:
        return unmeasured(missing)
    expected = {name: source.measures[name] for name in rules.reconciled}
    found = {name: staged.measures[name] for name in rules.reconciled}
    compared = [*_compare(source, staged, rules), *_compare_by_value(source, staged, rules)]
    return Found(
        expected=listed(expected),
        found=listed(found),
        figures=tuple(one.figure for one in compared),
        strays=with_remedy(
            [_differs(one) for one in compared if one.strays],
            "see what the transform loses, doubles or moves",
        ),
    )


def golden_kept(measured: PartitionMeasurement, rules: GateRules) -> Found:
    agreed = [one for one in rules.golden if one.day == measured.day]
    missing = [named(one.measure, one.value) for one in agreed if _found(measured, one) is None]
    if missing:
        return unmeasured(missing)
    compared = [(one, _against(one, measured, rules)) for one in agreed]
    causes = [_not_as_agreed(one, against) for one, against in compared if against.strays]
    kept = sum(not against.strays for _, against in compared)
    return Found(
        expected=f"{len(agreed)} agreed figures" if agreed else "no figure was agreed upon",
        found=f"{kept} of {len(agreed)} kept" if agreed else "no figure was agreed upon",
        figures=tuple(against.figure for _, against in compared),
        strays=with_remedy(causes, "agree upon another figure, or correct what changed it"),
    )


def _compare(
    source: SourceMeasurement, staged: PartitionMeasurement, rules: GateRules
) -> Iterator[_Compared]:
    for name in rules.reconciled:
        yield _Compared(
            measure=name,
            value="",
            expected=source.measures[name],
            found=staged.measures[name],
            tolerance=rules.tolerance(name),
        )


def _compare_by_value(
    source: SourceMeasurement, staged: PartitionMeasurement, rules: GateRules
) -> Iterator[_Compared]:
    for name in rules.reconciled_by_value:
        expected, found = source.by_dimension[name], staged.by_dimension[name]
        for value in sorted({*expected, *found}):
            yield _Compared(
                measure=name,
                value=value,
                expected=expected.get(value, 0),
                found=found.get(value, 0),
                tolerance=rules.tolerance(name),
            )


def _differs(one: _Compared) -> str:
    return (
        f"{named(one.measure, one.value)}: the input says {said(one.expected)}, "
        f"the output {said(one.found)}"
    )


def _counts_nothing(day: date, rules: GateRules) -> SourceMeasurement:
    return SourceMeasurement(
        day=day,
        measures=dict.fromkeys(rules.reconciled, 0),
        by_dimension={name: {} for name in rules.reconciled_by_value},
    )


def _unmeasured_in(
    measured: PartitionMeasurement | SourceMeasurement, rules: GateRules, where: str
) -> Iterator[str]:
    for name in rules.reconciled:
        is_by_value = name in rules.reconciled_by_value
        if name not in measured.measures or (is_by_value and name not in measured.by_dimension):
            yield f"{name} in the {where}"


def _found(measured: PartitionMeasurement, agreed: GoldenFigure) -> Figure | None:
    if not agreed.value:
        return figure_of(measured, agreed.measure)
    by_value = measured.by_dimension.get(agreed.measure)
    return None if by_value is None else by_value.get(agreed.value, 0)


def _against(agreed: GoldenFigure, measured: PartitionMeasurement, rules: GateRules) -> _Compared:
    found = _found(measured, agreed)
    assert found is not None, "what was not measured was told before"
    return _Compared(
        measure=agreed.measure,
        value=agreed.value,
        expected=agreed.figure,
        found=found,
        tolerance=rules.tolerance(agreed.measure),
    )


def _not_as_agreed(agreed: GoldenFigure, against: _Compared) -> str:
    return (
        f"{named(agreed.measure, agreed.value)} is {said(against.found)}; "
        f"{said(agreed.figure)} was agreed upon ({agreed.origin})"
    )
