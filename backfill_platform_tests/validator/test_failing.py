"""Which failing rows are looked for, and the table that keeps some of them. No JVM."""

from dataclasses import replace
from datetime import date
from pathlib import Path

from deltalake import DeltaTable

from backfill_platform.domain.failing_rows import FailingRow
from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.verdicts import Gate, Outcome, Verdict
from backfill_platform.validator.failing import (
    Sought,
    read_failing_table,
    replace_failing,
    what_to_look_for,
)

MONDAY, TUESDAY = date(2026, 1, 5), date(2026, 1, 6)
BOTH = PartitionSet.of_days([MONDAY, TUESDAY])
ROW = FailingRow(
    day=MONDAY,
    gate=Gate.VALUES_VALID,
    check="nulls in amount",
    key={"meter": "ä"},
    found={"amount": None},
)
LATER = replace(ROW, day=TUESDAY, gate=Gate.KEY_UNIQUE, check="repeated key", found={"rows": "2"})
MEASURED = PartitionMeasurement(
    day=MONDAY,
    row_count=9,
    checksum="9:0",
    duplicate_keys=1,
    null_counts={"amount": 2, "meter": 0},
    check_failures={"amount_greater_than": 1, "meter_isin": 0},
    measures={},
    rejected={"no number": 1},
    orphans={"known meter": 1},
    misplaced_instants={"read_at": 1, "sent_at": 0},
)


def verdict(gate: Gate, day: date = MONDAY, outcome: Outcome = Outcome.FAILED) -> Verdict:
    return Verdict(gate=gate, day=day, outcome=outcome, expected="0", found="1", message="")


def test_rows_are_looked_for_where_a_gate_of_rows_did_not_pass() -> None:
    verdicts = [
        verdict(Gate.VALUES_VALID),
        verdict(Gate.KEY_UNIQUE, outcome=Outcome.PASSED),
        verdict(Gate.INSTANTS_BOUNDED, outcome=Outcome.HELD),
        verdict(Gate.RELATIONS_KEPT, outcome=Outcome.WARNED),
        verdict(Gate.REJECTS_BOUNDED),
        verdict(Gate.RECONCILED),
    ]
    sought = what_to_look_for(verdicts, [MEASURED])
    assert [(one.gate, one.check) for one in sought] == [
        (Gate.REJECTS_BOUNDED, "no number"),
        (Gate.VALUES_VALID, "amount_greater_than"),
        (Gate.VALUES_VALID, "nulls in amount"),
        (Gate.RELATIONS_KEPT, "known meter"),
        (Gate.INSTANTS_BOUNDED, "read_at"),
    ]


def test_a_check_is_looked_for_on_all_its_days_at_once() -> None:
    verdicts = [verdict(Gate.KEY_UNIQUE, TUESDAY), verdict(Gate.KEY_UNIQUE)]
    sought = what_to_look_for(verdicts, [MEASURED, replace(MEASURED, day=TUESDAY)])
    assert sought == (Sought(gate=Gate.KEY_UNIQUE, check="repeated key", days=(MONDAY, TUESDAY)),)


def test_a_day_that_nobody_measured_has_no_row_to_show() -> None:
    assert what_to_look_for([verdict(Gate.KEY_UNIQUE, TUESDAY)], [MEASURED]) == ()


def test_what_is_kept_is_read_back_by_day_and_gate(tmp_path: Path) -> None:
    replace_failing(tmp_path, BOTH.span, [LATER, ROW])
    assert read_failing_table(tmp_path, BOTH) == (ROW, LATER)
    assert read_failing_table(tmp_path, PartitionSet.of_days([TUESDAY])) == (LATER,)


def test_another_chunk_keeps_its_own_rows(tmp_path: Path) -> None:
    replace_failing(tmp_path, DayRange.of_day(MONDAY), [ROW])
    replace_failing(tmp_path, DayRange.of_day(TUESDAY), [LATER])
    assert read_failing_table(tmp_path, BOTH) == (ROW, LATER)


def test_rows_of_a_staging_that_was_staged_again_are_gone(tmp_path: Path) -> None:
    replace_failing(tmp_path, BOTH.span, [ROW, LATER])
    replace_failing(tmp_path, DayRange.of_day(MONDAY), [])
    assert read_failing_table(tmp_path, BOTH) == (LATER,)


def test_nothing_is_made_where_nothing_failed(tmp_path: Path) -> None:
    replace_failing(tmp_path / "failing", BOTH.span, [])
    assert not DeltaTable.is_deltatable(str(tmp_path / "failing"))
    assert read_failing_table(tmp_path / "failing", BOTH) == ()
