"""When a change against what is accepted is held, and in which words."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from backfill_platform.domain.measurements import Figure, PartitionMeasurement
from backfill_platform.domain.partitions import Boundary, DayRange
from backfill_platform.domain.quality import ChangeBound, ExpectedChange
from backfill_platform.domain.verdicts import Gate, Outcome, Verdict
from backfill_platform.validator.gates.judging import judge
from backfill_platform.validator.gates.rules import GateRules
from backfill_platform_tests.validator.test_gates import STAGED

FIRST, LAST, NEXT = date(2025, 1, 30), date(2025, 1, 31), date(2025, 2, 1)
DAYS = DayRange.closed(FIRST, NEXT)
TWENTY = ChangeBound(
    measure="breached_cases", fall_percent=Decimal(20), rise_percent=Decimal(20), per=Boundary.DAY
)
MONTHLY = replace(TWENTY, per=Boundary.MONTH)
RULES = GateRules(
    gates=(Gate.CHANGE_EXPECTED,), may_be_empty=False, reconciled=(), changes=(TWENTY,)
)
BY_PLACE = replace(RULES, dimensions={"breached_cases": ("jurisdiction",)})


def day(day: date, figure: Figure = 0, **parts: Figure) -> PartitionMeasurement:
    by_place = {name.replace("_", "-"): count for name, count in parts.items()}
    return replace(
        STAGED,
        day=day,
        measures={"breached_cases": sum(parts.values()) if parts else figure},
        by_dimension={"breached_cases": by_place},
    )


def judged(
    staged: list[PartitionMeasurement],
    accepted: list[PartitionMeasurement],
    rules: GateRules = RULES,
) -> Mapping[date, Verdict]:
    days = DayRange.closed(staged[0].day, staged[-1].day)
    found = judge(days, staged, (), rules, accepted={one.day: one for one in accepted})
    return {verdict.day: verdict for verdict in found}


def test_a_fall_beyond_the_bound_is_held_in_peoples_words():
    before, after = day(FIRST, US_CA=500, DE_BE=90), day(FIRST, US_CA=100, DE_BE=91)
    found = judged([after], [before], BY_PLACE)[FIRST]
    assert found.outcome is Outcome.HELD
    assert found.message == (
        "breached_cases of US-CA fell by 80.0 % (from 500 to 100); up to 20 % is usual; "
        "look at the diff"
    )


def test_the_figures_show_every_value_before_and_after_and_those_that_stray_first():
    before, after = day(FIRST, US_CA=500, DE_BE=90), day(FIRST, US_CA=100, DE_BE=91)
    found = judged([after], [before], BY_PLACE)[FIRST].figures
    assert [(one.value, one.expected, one.found, one.strays) for one in found] == [
        ("US-CA", "500 (-20 % to +20 %)", "100 (-80.0 %)", True),
        ("", "590", "191 (-67.6 %)", False),
        ("DE-BE", "90 (-20 % to +20 %)", "91 (+1.1 %)", False),
    ]


def test_a_rise_is_held_against_its_own_bound():
    uneven = replace(RULES, changes=(replace(TWENTY, rise_percent=Decimal("7.5")),))
    message = judged([day(FIRST, 1100)], [day(FIRST, 1000)], uneven)[FIRST].message
    assert message.startswith("breached_cases rose by 10.0 % (from 1,000 to 1,100); up to 7.5 % ")


@pytest.mark.parametrize(("after", "passes"), [(80, True), (79, False), (120, True), (121, False)])
def test_the_bound_itself_is_still_usual(after, passes):
    assert judged([day(FIRST, after)], [day(FIRST, 100)])[FIRST].has_passed is passes


def test_a_figure_that_was_zero_has_no_share_to_rise_by():
    message = judged([day(FIRST, 5)], [day(FIRST, 0)])[FIRST].message
    assert message.startswith("breached_cases rose (from 0 to 5); up to 20 % is usual")


def test_zero_that_stays_zero_is_no_change():
    assert judged([day(FIRST, 0)], [day(FIRST, 0)])[FIRST].has_passed


@pytest.mark.parametrize(("after", "passes"), [(9, True), (10, False)])
def test_a_difference_that_is_too_small_is_never_remarkable(after, passes):
    lenient = replace(RULES, changes=(replace(TWENTY, at_least=Decimal(10)),))
    assert judged([day(FIRST, after)], [day(FIRST, 0)], lenient)[FIRST].has_passed is passes


def test_a_month_is_judged_as_a_whole_and_each_of_its_days_says_so():
    before = [day(FIRST, 100), day(LAST, 100), day(NEXT, 100)]
    after = [day(FIRST, 0), day(LAST, 190), day(NEXT, 70)]
    found = judged(after, before, replace(RULES, changes=(MONTHLY,)))
    assert [found[one].outcome for one in DAYS] == [Outcome.PASSED, Outcome.PASSED, Outcome.HELD]
    assert "(from 100 to 70 in 2025-02)" in found[NEXT].message


def test_days_of_a_month_that_is_held_are_all_held():
    before = [day(FIRST, 100), day(LAST, 100), day(NEXT, 100)]
    after = [day(FIRST, 100), day(LAST, 10), day(NEXT, 100)]
    found = judged(after, before, replace(RULES, changes=(MONTHLY,)))
    assert [found[one].is_held for one in DAYS] == [True, True, False]


def test_a_day_that_is_published_for_the_first_time_passes_and_says_so():
    found = judged([day(FIRST, 5)], [])[FIRST]
    assert (found.outcome, found.found) == (Outcome.PASSED, "nothing is accepted yet")


def test_a_first_day_takes_no_part_in_the_sum_of_its_month():
    found = judged(
        [day(FIRST, 100), day(LAST, 900)], [day(FIRST, 100)], replace(RULES, changes=(MONTHLY,))
    )
    assert [verdict.has_passed for verdict in found.values()] == [True, True]


def test_an_accepted_figure_that_is_missing_fails_every_day_of_its_month():
    forgotten = replace(day(LAST), measures={})
    found = judged(
        [day(FIRST, 1), day(LAST, 1)],
        [day(FIRST, 1), forgotten],
        replace(RULES, changes=(MONTHLY,)),
    )
    assert [verdict.outcome for verdict in found.values()] == [Outcome.FAILED, Outcome.FAILED]
    assert "breached_cases as accepted of 2025-01-31" in found[FIRST].message


def test_a_figure_that_was_not_counted_by_its_dimension_fails():
    whole = replace(day(FIRST, 5), by_dimension={})
    assert judged([whole], [day(FIRST, 5)], BY_PLACE)[FIRST].is_refusal


EXPECTED = ExpectedChange(
    measure="breached_cases", least_percent=Decimal(-90), most_percent=Decimal(-60)
)
EXPECTING = replace(BY_PLACE, expected_changes=(EXPECTED,))


def test_what_a_run_expects_takes_the_place_of_the_bound_for_the_measure_as_a_whole():
    before, after = day(FIRST, US_CA=500, DE_BE=10), day(FIRST, US_CA=100, DE_BE=12)
    assert judged([after], [before], EXPECTING)[FIRST].has_passed


def test_a_run_whose_expectation_does_not_come_true_is_held():
    found = judged([day(FIRST, US_CA=490)], [day(FIRST, US_CA=500)], EXPECTING)[FIRST]
    assert found.outcome is Outcome.HELD
    assert found.message == (
        "breached_cases fell by 2.0 % (from 500 to 490); the run expects -90 % to -60 %; "
        "look at the diff"
    )


def test_a_run_that_expects_a_change_is_held_where_nothing_moves():
    message = judged([day(FIRST, US_CA=5)], [day(FIRST, US_CA=5)], EXPECTING)[FIRST].message
    assert message.startswith("breached_cases did not move (from 5 to 5); the run expects -90 %")


def test_row_count_is_a_measure_of_every_table():
    counted = replace(RULES, changes=(replace(TWENTY, measure="row_count"),))
    lost = replace(day(FIRST), row_count=7)
    message = judged([lost], [day(FIRST)], counted)[FIRST].message
    assert message.startswith("row_count fell by 30.0 % (from 10 to 7); ")
