"""What each gate says, and when."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from backfill_platform.domain.measurements import PartitionMeasurement, SourceMeasurement
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.quality import UNBENDING, GoldenFigure, Tolerance
from backfill_platform.domain.verdicts import Gate, GateSeverity, Outcome, Verdict
from backfill_platform.validator.gates.judging import judge
from backfill_platform.validator.gates.rules import GateRules, LateRows

DAY = date(2025, 1, 1)
GOLDEN = GoldenFigure(day=DAY, measure="rows", figure=Decimal(10), origin="report of January")
RULES = GateRules(
    gates=tuple(Gate),
    may_be_empty=False,
    not_null=("case_id",),
    checks=("amount_ge",),
    relations=("case",),
    instants=("opened_at",),
    promises=("listed_subjects", "phone_unmasked"),
    reconciled=("rows",),
    dimensions={"rows": ("country",)},
    golden=(GOLDEN,),
    late_rows=Tolerance(percent=Decimal(1)),
)
STAGED = PartitionMeasurement(
    day=DAY,
    row_count=10,
    checksum="c",
    duplicate_keys=0,
    null_counts={"case_id": 0},
    check_failures={"amount_ge": 0},
    measures={"rows": 10},
    private_rows={"listed_subjects": 0, "phone_unmasked": 0},
    by_dimension={"rows": {"DE": 6, "FR": 4}},
    rows_without_lineage=0,
    rejected={},
    orphans={"case": 0},
    misplaced_instants={"opened_at": 0},
    shape_problems=(),
)
SOURCE = SourceMeasurement(
    day=DAY, measures={"rows": 10}, by_dimension={"rows": {"DE": 6, "FR": 4}}
)
NONE_LATE = {DAY: LateRows(computed_from=1000, arrived_since=0)}


def verdicts(
    staged=(STAGED,), source=(SOURCE,), rules=RULES, late_rows=NONE_LATE
) -> dict[Gate, Verdict]:
    judged = judge(
        DayRange.of_day(DAY), staged, source, rules, accepted={DAY: STAGED}, late_rows=late_rows
    )
    return {verdict.gate: verdict for verdict in judged}


def failed(found: dict[Gate, Verdict]) -> set[Gate]:
    return {gate for gate, verdict in found.items() if verdict.outcome is Outcome.FAILED}


def only(gate: Gate, found: dict[Gate, Verdict]) -> Verdict:
    """The verdict of the one gate that did not pass."""
    assert {one for one, verdict in found.items() if not verdict.has_passed} == {gate}
    return found[gate]


def test_every_gate_speaks_once_for_each_day():
    days = DayRange(DAY, date(2025, 1, 4))
    judged = judge(days, (STAGED,), (SOURCE,), RULES)
    assert [(one.day, one.gate) for one in judged] == [(day, gate) for day in days for gate in Gate]


def test_only_the_gates_that_are_named_speak():
    named = (Gate.KEY_UNIQUE, Gate.VALUES_VALID)
    assert tuple(verdicts(rules=replace(RULES, gates=named))) == named


def test_good_data_passes_every_gate():
    assert {verdict.outcome for verdict in verdicts().values()} == {Outcome.PASSED}


def test_a_day_that_was_not_measured_fails_every_gate():
    assert failed(verdicts(staged=())) == set(Gate)


EMPTY_RULES = replace(RULES, may_be_empty=True, golden=())


def test_a_missing_day_passes_where_the_table_may_be_empty():
    assert failed(verdicts(staged=(), source=(), rules=EMPTY_RULES)) == set()


def test_an_empty_day_of_a_table_that_may_be_empty_still_has_to_reconcile():
    only(Gate.RECONCILED, verdicts(staged=(), rules=EMPTY_RULES))


def test_a_repeated_key_fails_its_gate_alone_and_says_how_often():
    found = only(Gate.KEY_UNIQUE, verdicts(staged=(replace(STAGED, duplicate_keys=3),)))
    assert found.message.startswith("3 rows repeating the key of another row")


def test_nulls_and_bad_values_fail_their_gate_with_both_causes():
    broken = replace(STAGED, null_counts={"case_id": 2}, check_failures={"amount_ge": 1})
    found = only(Gate.VALUES_VALID, verdicts(staged=(broken,)))
    assert found.message.startswith("2 nulls in case_id; 1 row failing amount_ge; ")
    assert [(figure.name, figure.found) for figure in found.figures] == [
        ("nulls in case_id", "2"),
        ("amount_ge", "1"),
    ]


def test_a_check_that_nobody_measured_is_not_kept():
    found = only(Gate.VALUES_VALID, verdicts(staged=(replace(STAGED, check_failures={}),)))
    assert found.message == "nothing was measured of amount_ge; stage the day again"


@pytest.mark.parametrize(
    ("count", "says"),
    [
        (4, "the day has 4 rows and needs at least 5; "),
        (21, "the day has 21 rows and may have at most 20; "),
    ],
)
def test_a_day_with_fewer_or_more_rows_than_declared_says_both_numbers(count, says):
    bounded = replace(RULES, rows_least=5, rows_most=20)
    found = only(
        Gate.ROWS_PRESENT, verdicts(staged=(replace(STAGED, row_count=count),), rules=bounded)
    )
    assert found.message.startswith(says)
    assert (found.expected, found.found) == ("5 to 20", str(count))


def test_a_day_that_lost_all_its_rows_is_missing_and_says_so():
    found = verdicts(staged=(replace(STAGED, row_count=0),))
    assert {gate for gate, verdict in found.items() if not verdict.has_passed} == {
        Gate.PARTITIONS_COMPLETE,
        Gate.ROWS_PRESENT,
    }
    assert found[Gate.ROWS_PRESENT].message.startswith("the day has no rows; ")


def test_rows_without_lineage_fail_their_gate_alone():
    nameless = replace(STAGED, rows_without_lineage=2)
    found = only(Gate.LINEAGE_COMPLETE, verdicts(staged=(nameless,)))
    assert found.message.startswith("2 rows without run, code or input")


def test_more_rejects_than_a_table_allows_are_named_by_reason():
    rejecting = replace(STAGED, rejected={"no amount": 2, "future": 1})
    found = only(
        Gate.REJECTS_BOUNDED, verdicts(staged=(rejecting,), rules=replace(RULES, rejects_most=2))
    )
    assert found.message.startswith("3 rows set aside (future=1, no amount=2); 2 may be; ")


def test_as_many_rejects_as_a_table_allows_pass():
    rejecting = replace(STAGED, rejected={"no amount": 2})
    found = verdicts(staged=(rejecting,), rules=replace(RULES, rejects_most=2))
    assert found[Gate.REJECTS_BOUNDED].has_passed


def test_a_shape_that_is_not_as_declared_is_told_in_its_own_words():
    wide = replace(STAGED, shape_problems=("column extra is not declared",))
    found = only(Gate.SCHEMA_CONTRACT, verdicts(staged=(wide,)))
    assert found.message.startswith("column extra is not declared; ")


def test_rows_that_refer_to_nothing_fail_the_gate_of_their_relation():
    found = only(Gate.RELATIONS_KEPT, verdicts(staged=(replace(STAGED, orphans={"case": 4}),)))
    assert found.message.startswith("4 rows whose case refers to nothing; ")


def test_instants_outside_their_bounds_name_the_column():
    misplaced = replace(STAGED, misplaced_instants={"opened_at": 7})
    found = only(Gate.INSTANTS_BOUNDED, verdicts(staged=(misplaced,)))
    assert found.message.startswith("7 rows with opened_at outside the bounds of their day; ")


def test_kept_promises_pass_with_their_numbers():
    assert verdicts()[Gate.PRIVACY_KEPT].found == "listed_subjects=0, phone_unmasked=0"


def test_a_table_that_declares_nothing_private_passes_and_says_so():
    found = verdicts(rules=replace(RULES, promises=()))
    assert found[Gate.PRIVACY_KEPT].found == "no list and no mask is declared"


def test_rows_of_listed_subjects_and_raw_values_fail_their_gate_alone():
    broken = replace(STAGED, private_rows={"listed_subjects": 2, "phone_unmasked": 1})
    found = only(Gate.PRIVACY_KEPT, verdicts(staged=(broken,)))
    assert found.message.startswith(
        "rows that must not be shown: listed_subjects=2, phone_unmasked=1; "
    )


def test_a_promise_that_nobody_measured_is_not_kept():
    found = only(Gate.PRIVACY_KEPT, verdicts(staged=(replace(STAGED, private_rows={}),)))
    assert "nothing was measured of listed_subjects" in found.message


LOST = replace(STAGED, measures={"rows": 9}, by_dimension={"rows": {"DE": 5, "FR": 4}})
NO_GOLDEN = replace(RULES, golden=())


def test_lost_rows_fail_reconciliation_with_both_figures_and_where_they_are_lost():
    found = only(Gate.RECONCILED, verdicts(staged=(LOST,), rules=NO_GOLDEN))
    assert found.message.startswith(
        "rows: the input says 10, the output 9; rows of DE: the input says 6, the output 5; "
    )


def test_rows_that_moved_from_one_value_to_another_do_not_reconcile():
    moved = replace(STAGED, by_dimension={"rows": {"DE": 5, "FR": 4, "IT": 1}})
    found = only(Gate.RECONCILED, verdicts(staged=(moved,)))
    assert [(one.value, one.expected, one.found) for one in found.figures if one.strays] == [
        ("DE", "6", "5"),
        ("IT", "0", "1"),
    ]


def test_a_declared_tolerance_lets_a_small_difference_pass():
    tolerant = replace(NO_GOLDEN, tolerances={"rows": Tolerance(absolute=Decimal(1))})
    found = verdicts(staged=(LOST,), rules=tolerant)[Gate.RECONCILED]
    assert found.has_passed
    assert found.figures[0].expected == "10 (give or take 1)"


def test_rows_that_the_input_does_not_know_fail_reconciliation():
    only(Gate.RECONCILED, verdicts(source=()))


@pytest.mark.parametrize(
    ("staged", "source", "says"),
    [
        (replace(STAGED, measures={}), SOURCE, "rows in the output"),
        (replace(STAGED, by_dimension={}), SOURCE, "rows in the output"),
        (STAGED, replace(SOURCE, measures={}), "rows in the input"),
        (STAGED, replace(SOURCE, by_dimension={}), "rows in the input"),
    ],
)
def test_a_figure_that_one_side_did_not_measure_does_not_reconcile(staged, source, says):
    found = verdicts(staged=(staged,), source=(source,), rules=NO_GOLDEN)
    assert only(Gate.RECONCILED, found).message.startswith(f"nothing was measured of {says}; ")


def test_a_figure_that_was_agreed_upon_is_named_with_its_origin():
    agreed = replace(GOLDEN, figure=Decimal(12))
    found = only(Gate.GOLDEN_KEPT, verdicts(rules=replace(RULES, golden=(agreed,))))
    assert found.message.startswith("rows is 10; 12 was agreed upon (report of January); ")


def test_a_golden_figure_of_one_value_is_held_against_that_value():
    agreed = replace(GOLDEN, value="FR", figure=Decimal(4))
    assert verdicts(rules=replace(RULES, golden=(agreed,)))[Gate.GOLDEN_KEPT].has_passed


def test_a_golden_figure_that_was_not_measured_is_not_kept():
    agreed = replace(GOLDEN, measure="amount")
    found = only(Gate.GOLDEN_KEPT, verdicts(rules=replace(RULES, golden=(agreed,))))
    assert found.message == "nothing was measured of amount; stage the day again"


def test_a_day_of_which_no_figure_was_agreed_upon_passes_and_says_so():
    other = replace(GOLDEN, day=date(2025, 2, 1))
    found = verdicts(rules=replace(RULES, golden=(other,)))[Gate.GOLDEN_KEPT]
    assert (found.outcome, found.found) == (Outcome.PASSED, "no figure was agreed upon")


def test_rows_that_came_after_a_day_was_accepted_are_a_warning_with_both_numbers():
    late = {DAY: LateRows(computed_from=1000, arrived_since=11)}
    found = only(Gate.LATE_DATA, verdicts(late_rows=late))
    assert found.outcome is Outcome.WARNED
    assert found.message.startswith(
        "11 rows of input arrived after the day was accepted, which was computed from 1,000; "
    )


def test_few_late_rows_are_within_the_tolerance():
    late = {DAY: LateRows(computed_from=1000, arrived_since=10)}
    assert verdicts(late_rows=late)[Gate.LATE_DATA].has_passed


def test_a_run_that_reads_less_than_the_accepted_one_has_no_late_rows():
    fewer = {DAY: LateRows(computed_from=1000, arrived_since=-300)}
    found = verdicts(late_rows=fewer)[Gate.LATE_DATA]
    assert (found.outcome, found.found) == (Outcome.PASSED, "0 since, 1,000 before")


@pytest.mark.parametrize("late_rows", [{}, {DAY: None}], ids=["left out", "not found out"])
def test_late_rows_of_an_accepted_day_that_nobody_could_count_fail(late_rows):
    assert only(Gate.LATE_DATA, verdicts(late_rows=late_rows)).is_refusal


@pytest.mark.parametrize("gate", sorted(UNBENDING))
def test_an_unbending_gate_blocks_whatever_severity_it_is_given(gate):
    milder = replace(RULES, severities={gate: GateSeverity.WARN})
    assert milder.severity(gate) is GateSeverity.BLOCK


def test_a_verdict_keeps_at_most_fifty_figures_and_those_that_stray_first():
    by_country = {f"C{number:02}": 1 for number in range(70)}
    source = replace(SOURCE, measures={"rows": 70}, by_dimension={"rows": by_country})
    staged = replace(STAGED, measures={"rows": 70}, by_dimension={"rows": {**by_country, "C69": 2}})
    found = only(
        Gate.RECONCILED, verdicts(staged=(staged,), source=(source,), rules=NO_GOLDEN)
    ).figures
    assert len(found) == 50
    assert [figure.value for figure in found if figure.strays] == [found[0].value] == ["C69"]


def test_a_message_names_the_first_causes_and_counts_the_rest():
    nulls = {f"column_{number}": 1 for number in range(9)}
    found = verdicts(staged=(replace(STAGED, null_counts={**nulls, "case_id": 0}),))
    assert "1 null in column_4; and 4 more; " in only(Gate.VALUES_VALID, found).message
