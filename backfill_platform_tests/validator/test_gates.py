"""What each gate says, and when."""

from dataclasses import replace
from datetime import date

from backfill_platform.domain.measurements import PartitionMeasurement, SourceMeasurement
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.verdicts import Gate, Outcome, Verdict
from backfill_platform.validator.gates import GateRules, judge

DAY = date(2025, 1, 1)
RULES = GateRules(may_be_empty=False, reconciled=("rows",))
STAGED = PartitionMeasurement(
    day=DAY,
    row_count=10,
    checksum="c",
    duplicate_keys=0,
    null_counts={"case_id": 0},
    check_failures={"amount_ge": 0},
    measures={"rows": 10},
)
SOURCE = SourceMeasurement(day=DAY, measures={"rows": 10})


def verdicts(staged=(STAGED,), source=(SOURCE,), rules=RULES) -> dict[Gate, Verdict]:
    judged = judge(DayRange.of_day(DAY), staged, source, rules)
    return {verdict.gate: verdict for verdict in judged}


def failed(found: dict[Gate, Verdict]) -> set[Gate]:
    return {gate for gate, verdict in found.items() if verdict.outcome is Outcome.FAILED}


def test_every_gate_speaks_once_for_each_day():
    judged = judge(DayRange(DAY, date(2025, 1, 4)), (STAGED,), (SOURCE,), RULES)
    assert len(judged) == 3 * len(Gate)


def test_good_data_passes_every_gate():
    assert failed(verdicts()) == set()


def test_a_day_that_was_not_measured_fails_every_gate():
    assert failed(verdicts(staged=())) == set(Gate)


def test_a_missing_day_passes_where_the_table_may_be_empty():
    assert failed(verdicts(staged=(), source=(), rules=replace(RULES, may_be_empty=True))) == set()


def test_an_empty_day_of_a_table_that_may_be_empty_still_has_to_reconcile():
    assert failed(verdicts(staged=(), rules=replace(RULES, may_be_empty=True))) == {Gate.RECONCILED}


def test_a_repeated_key_fails_its_gate_alone_and_says_how_often():
    found = verdicts(staged=(replace(STAGED, duplicate_keys=3),))
    assert failed(found) == {Gate.KEY_UNIQUE}
    assert "3 rows repeat" in found[Gate.KEY_UNIQUE].message


def test_nulls_and_bad_values_fail_the_schema_gate_with_both_causes():
    broken = replace(STAGED, null_counts={"case_id": 2}, check_failures={"amount_ge": 1})
    found = verdicts(staged=(broken,))
    assert failed(found) == {Gate.SCHEMA_CONTRACT}
    assert found[Gate.SCHEMA_CONTRACT].message == "2 nulls in case_id; 1 rows fail amount_ge"


PROMISING = replace(RULES, promises=("listed_subjects", "phone_unmasked"))


def test_a_table_that_declares_nothing_private_passes_and_says_so():
    assert verdicts()[Gate.PRIVACY_KEPT].found == "no list and no mask is declared"


def test_kept_promises_pass_with_their_numbers():
    kept = replace(STAGED, private_rows={"listed_subjects": 0, "phone_unmasked": 0})
    found = verdicts(staged=(kept,), rules=PROMISING)
    assert failed(found) == set()
    assert found[Gate.PRIVACY_KEPT].found == "listed_subjects=0, phone_unmasked=0"


def test_rows_of_listed_subjects_and_raw_values_fail_their_gate_alone():
    broken = replace(STAGED, private_rows={"listed_subjects": 2, "phone_unmasked": 1})
    found = verdicts(staged=(broken,), rules=PROMISING)
    assert failed(found) == {Gate.PRIVACY_KEPT}
    assert found[Gate.PRIVACY_KEPT].message == (
        "rows that must not be shown: listed_subjects=2, phone_unmasked=1"
    )


def test_a_promise_that_nobody_measured_is_not_kept():
    found = verdicts(rules=PROMISING)
    assert failed(found) == {Gate.PRIVACY_KEPT}
    assert "nothing was measured of listed_subjects" in found[Gate.PRIVACY_KEPT].message


def test_lost_rows_fail_reconciliation_with_both_figures():
    found = verdicts(staged=(replace(STAGED, measures={"rows": 9}),))
    assert failed(found) == {Gate.RECONCILED}
    assert found[Gate.RECONCILED].message == "rows: the input says 10, the output 9"


def test_rows_that_the_input_does_not_know_fail_reconciliation():
    assert failed(verdicts(source=())) == {Gate.RECONCILED}
