"""What holds of gates whatever was measured and declared."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backfill_platform.domain.measurements import PartitionMeasurement, SourceMeasurement
from backfill_platform.domain.partitions import Boundary, DayRange
from backfill_platform.domain.quality import (
    UNBENDING,
    ChangeBound,
    ExpectedChange,
    GoldenFigure,
    Tolerance,
)
from backfill_platform.domain.verdicts import STRAYED, Gate, GateSeverity, Outcome
from backfill_platform.validator.gates.judging import judge
from backfill_platform.validator.gates.rules import GateRules, LateRows
from backfill_platform_tests.validator.test_gates import DAY, RULES, SOURCE, STAGED

DAYS = DayRange(date(2025, 1, 28), date(2025, 2, 4))

counts = st.integers(0, 40)
figures = counts | st.decimals(0, 40, places=2)
parts = st.dictionaries(st.sampled_from(("DE", "FR")), figures)
percents = st.decimals(0, 100, places=1)
tolerances = st.builds(Tolerance, absolute=percents, percent=percents)


def measured_on(day: date) -> st.SearchStrategy[PartitionMeasurement]:
    """Any of it may not have been measured."""
    return st.builds(
        PartitionMeasurement,
        day=st.just(day),
        row_count=counts,
        checksum=st.just("c"),
        duplicate_keys=counts,
        null_counts=st.dictionaries(st.just("case_id"), counts),
        check_failures=st.dictionaries(st.just("amount_ge"), counts),
        measures=st.dictionaries(st.sampled_from(("rows", "amount")), figures),
        private_rows=st.dictionaries(st.just("listed_subjects"), counts),
        by_dimension=st.dictionaries(st.just("rows"), parts),
        rows_without_lineage=st.none() | counts,
        rejected=st.none() | st.dictionaries(st.just("no amount"), counts),
        orphans=st.none() | st.dictionaries(st.just("case"), counts),
        misplaced_instants=st.none() | st.dictionaries(st.just("opened_at"), counts),
        shape_problems=st.none() | st.lists(st.just("a column too many")).map(tuple),
    )


def source_on(day: date) -> st.SearchStrategy[SourceMeasurement]:
    return st.builds(
        SourceMeasurement,
        day=st.just(day),
        measures=st.dictionaries(st.just("rows"), figures),
        by_dimension=st.dictionaries(st.just("rows"), parts),
    )


def some_days(of_day) -> st.SearchStrategy[dict]:
    every = st.fixed_dictionaries({}, optional={day: of_day(day) for day in DAYS})
    return every.map(dict)


rules = st.builds(
    GateRules,
    gates=st.lists(st.sampled_from(Gate), unique=True).map(tuple),
    may_be_empty=st.booleans(),
    rows_least=counts,
    rows_most=st.none() | counts,
    rejects_most=counts,
    not_null=st.just(("case_id",)),
    checks=st.just(("amount_ge",)),
    relations=st.just(("case",)),
    instants=st.just(("opened_at",)),
    promises=st.just(("listed_subjects",)),
    reconciled=st.just(("rows",)),
    dimensions=st.sampled_from(({}, {"rows": ("country",)})),
    golden=st.lists(
        st.builds(
            GoldenFigure,
            day=st.sampled_from(list(DAYS)),
            measure=st.sampled_from(("rows", "amount", "row_count")),
            figure=st.decimals(0, 40, places=2),
            value=st.sampled_from(("", "DE")),
            origin=st.just("a report"),
        ),
        max_size=3,
    ).map(tuple),
    changes=st.lists(
        st.builds(
            ChangeBound,
            measure=st.sampled_from(("rows", "amount", "row_count")),
            fall_percent=percents,
            rise_percent=percents,
            per=st.sampled_from(Boundary),
            at_least=percents,
        ),
        max_size=3,
    ).map(tuple),
    expected_changes=st.sampled_from(
        ((), (ExpectedChange(measure="rows", least_percent=Decimal(-50), most_percent=Decimal(5)),))
    ),
    late_rows=tolerances,
    tolerances=st.dictionaries(st.just("rows"), tolerances),
    severities=st.dictionaries(st.sampled_from(Gate), st.sampled_from(GateSeverity)),
)
late = st.none() | st.builds(LateRows, computed_from=counts, arrived_since=counts)

worlds = st.fixed_dictionaries(
    {
        "staged": some_days(measured_on).map(lambda found: tuple(found.values())),
        "source": some_days(source_on).map(lambda found: tuple(found.values())),
        "accepted": some_days(lambda day: st.none() | measured_on(day)),
        "late_rows": some_days(lambda day: late),
    }
)


@given(worlds, rules)
def test_each_gate_that_is_named_gives_one_verdict_on_each_day(world, declared):
    judged = judge(DAYS, rules=declared, **world)
    assert [(one.day, one.gate) for one in judged] == [
        (day, gate) for day in DAYS for gate in declared.gates
    ]


@given(worlds, rules)
def test_a_verdict_says_why_unless_it_passed_and_then_nothing(world, declared):
    judged = judge(DAYS, rules=declared, **world)
    assert [bool(one.message) for one in judged] == [not one.has_passed for one in judged]


def bent(declared: GateRules, severity: GateSeverity) -> GateRules:
    return replace(declared, severities=dict.fromkeys(Gate, severity))


@given(worlds, rules, st.sampled_from(GateSeverity))
def test_a_severity_changes_nothing_but_the_word_for_what_strays(world, declared, severity):
    blocking = judge(DAYS, rules=bent(declared, GateSeverity.BLOCK), **world)
    other = judge(DAYS, rules=bent(declared, severity), **world)
    assert [replace(one, outcome=Outcome.FAILED) for one in other] == [
        replace(one, outcome=Outcome.FAILED) for one in blocking
    ]
    bending = [one.outcome for one in other if one.gate not in UNBENDING]
    assert set(bending) <= {Outcome.PASSED, Outcome.FAILED, STRAYED[severity]}
    assert [one.has_passed for one in other] == [one.has_passed for one in blocking]


# Every figure of one good day that some gate judges by, taken away.
UNMEASURED = {
    "the day": (Gate.PARTITIONS_COMPLETE, {"staged": ()}),
    "rows": (Gate.ROWS_PRESENT, {"staged": ()}),
    "lineage": (Gate.LINEAGE_COMPLETE, {"rows_without_lineage": None}),
    "rejects": (Gate.REJECTS_BOUNDED, {"rejected": None}),
    "shape": (Gate.SCHEMA_CONTRACT, {"shape_problems": None}),
    "keys": (Gate.KEY_UNIQUE, {"staged": ()}),
    "nulls": (Gate.VALUES_VALID, {"null_counts": {}}),
    "checks": (Gate.VALUES_VALID, {"check_failures": {}}),
    "orphans": (Gate.RELATIONS_KEPT, {"orphans": None}),
    "one relation": (Gate.RELATIONS_KEPT, {"orphans": {}}),
    "instants": (Gate.INSTANTS_BOUNDED, {"misplaced_instants": None}),
    "one column": (Gate.INSTANTS_BOUNDED, {"misplaced_instants": {}}),
    "promises": (Gate.PRIVACY_KEPT, {"private_rows": {}}),
    "measures": (Gate.RECONCILED, {"measures": {}}),
    "dimensions": (Gate.RECONCILED, {"by_dimension": {}}),
    "golden": (Gate.GOLDEN_KEPT, {"measures": {}}),
    "change": (Gate.CHANGE_EXPECTED, {"measures": {}}),
    "accepted": (Gate.CHANGE_EXPECTED, {"accepted": {DAY: None}}),
    "late": (Gate.LATE_DATA, {"late_rows": {DAY: None}}),
}
BOUND = ChangeBound(measure="rows", fall_percent=Decimal(5), rise_percent=Decimal(5))


@pytest.mark.parametrize("severity", GateSeverity)
@pytest.mark.parametrize(("gate", "lost"), UNMEASURED.values(), ids=UNMEASURED.keys())
def test_what_was_not_measured_fails_at_every_severity(gate, lost, severity):
    declared = bent(replace(RULES, gates=(gate,), changes=(BOUND,)), severity)
    around: dict[str, Any] = {
        "accepted": {DAY: STAGED},
        "late_rows": {DAY: LateRows(computed_from=1, arrived_since=0)},
        "source": (SOURCE,),
    }
    of_day = {name: value for name, value in lost.items() if hasattr(STAGED, name)}
    world: dict[str, Any] = {"staged": (replace(STAGED, **of_day),)} | around
    world |= {name: value for name, value in lost.items() if name in world}
    (found,) = judge(DayRange.of_day(DAY), rules=declared, **world)
    assert (found.outcome, found.figures) == (Outcome.FAILED, ())
    assert "missing" in found.message or "nothing was measured" in found.message


@given(worlds, rules, tolerances, percents)
def test_whoever_tolerates_more_fails_nothing_more(world, declared, tolerance, more):
    def passed(allowed: Tolerance) -> set[tuple[date, Gate]]:
        tolerant = replace(declared, late_rows=allowed, tolerances={"rows": allowed})
        judged = judge(DAYS, rules=replace(tolerant, gates=tuple(Gate)), **world)
        return {(one.day, one.gate) for one in judged if one.has_passed}

    wider = Tolerance(absolute=tolerance.absolute + more, percent=tolerance.percent + more)
    assert passed(tolerance) <= passed(wider)


@given(worlds, rules, percents)
def test_whoever_bounds_changes_wider_holds_nothing_more(world, declared, more):
    def held(bounds: tuple[ChangeBound, ...]) -> set[date]:
        bounded = replace(declared, gates=(Gate.CHANGE_EXPECTED,), changes=bounds)
        return {one.day for one in judge(DAYS, rules=bounded, **world) if not one.has_passed}

    wider = tuple(
        replace(
            bound,
            fall_percent=bound.fall_percent + more,
            rise_percent=bound.rise_percent + more,
            at_least=bound.at_least + more,
        )
        for bound in declared.changes
    )
    assert held(wider) <= held(declared.changes)
