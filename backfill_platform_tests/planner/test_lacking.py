"""Which days a table lacks: due, and not there."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

from backfill_platform.domain.contracts import DerivedContract
from backfill_platform.domain.gaps import GapKind
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.quality import Quality, WatermarkPolicy
from backfill_platform_tests.planner.gap_worlds import (
    LOADED,
    SOURCE,
    START,
    TODAY,
    accepted,
    ended,
    found,
    holding,
    in_bronze,
    january,
    loaded,
    source,
    summed,
    table_input,
    told,
)

ALL = january(1, 31)
COMPLETE = Quality(watermark=WatermarkPolicy.BY_COMPLETE_WINDOW)


def without(*days: int) -> list[date]:
    return [day for day in ALL if day.day not in days]


def test_a_table_that_holds_all_that_has_landed_has_no_gap():
    assert in_bronze(holding(ALL), ALL) == ()


def test_a_hole_in_a_table_is_missing_and_days_after_its_last_are_ahead():
    gaps = in_bronze(holding(without(4, 5, 9, 30, 31)), ALL)
    assert told(gaps) == [
        ("MISSING_PARTITION", "2025-01-04..2025-01-05"),
        ("MISSING_PARTITION", "2025-01-09"),
        ("INPUT_AHEAD", "2025-01-30..2025-01-31"),
    ]


def test_every_gap_of_a_table_has_a_key_of_its_own_that_begins_with_its_first_day():
    gaps = in_bronze(holding(without(4, 5, 9, 30, 31)), ALL)
    assert [gap.key for gap in gaps] == [
        "bronze.cases:empty-2025-01-04",
        "bronze.cases:empty-2025-01-09",
        "bronze.cases:empty-2025-01-30",
    ]


def test_a_gap_that_grows_keeps_its_key_and_says_something_else():
    (before,) = in_bronze(holding(without(30, 31)), without(31))
    (after,) = in_bronze(holding(without(30, 31)), ALL)
    assert (before.key, before.digest != after.digest) == (after.key, True)


def test_a_day_that_has_not_ended_is_not_due():
    landed = [*ALL, TODAY]
    assert in_bronze(holding(ALL), landed) == ()


def test_a_day_that_was_accepted_without_rows_lacks_nothing():
    held = without(9)
    table = holding(held, accepted=accepted(held) | accepted(january(9), rows=0))
    assert in_bronze(table, ALL) == ()


def test_a_day_whose_accepted_rows_are_gone_is_missing():
    table = holding(without(9), accepted=accepted(ALL))
    assert told(in_bronze(table, ALL)) == [("MISSING_PARTITION", "2025-01-09")]


def test_where_a_source_skipped_a_day_there_is_nothing_to_compute_from():
    (gap,) = in_bronze(holding(without(9)), without(9))
    assert (gap.kind, gap.message) == (
        GapKind.INPUT_MISSING,
        "landing.events skipped 1 day (2025-01-09): there is nothing to compute from",
    )


def test_what_is_still_to_land_is_no_hole():
    assert in_bronze(holding(without(30, 31)), without(30, 31)) == ()


def test_a_gap_of_an_input_table_is_not_one_of_the_table_that_reads_it():
    gaps = found(holding(without(9), summed()), inputs={LOADED: table_input(without(9))})
    assert gaps == ()


def test_an_input_day_that_was_accepted_without_rows_asks_for_nothing():
    held = table_input(without(9), empty_days=frozenset(january(9)))
    assert found(holding(without(9), summed()), inputs={LOADED: held}) == ()


def test_warm_up_that_is_not_there_keeps_no_day_from_being_due():
    gaps = found(holding(without(9), summed()), inputs={LOADED: table_input(without(7, 8))})
    assert told(gaps) == [("MISSING_PARTITION", "2025-01-09")]


@pytest.mark.parametrize(("today", "due"), [(TODAY, 1), (TODAY - timedelta(days=1), 0)])
def test_from_complete_windows_alone_a_day_is_due_when_its_window_is_closed(today, due):
    table = holding(without(30, 31), summed(quality=COMPLETE))
    gaps = found(table, inputs={LOADED: table_input(ALL)}, today=today)
    assert len(gaps) == due


def test_before_an_input_starts_nothing_lacks():
    landed = january(10, 31)
    assert in_bronze(holding(landed), landed, start=landed.start) == ()


def test_what_retention_has_closed_is_no_gap():
    assert in_bronze(holding(without(2)), ALL, retention_days=20) == ()
    assert in_bronze(holding(without(2), loaded(retention_days=20)), ALL) == ()


def test_before_anything_that_was_ever_published_it_is_a_first_load():
    gaps = in_bronze(holding(january(10, 31)), ALL)
    assert [(gap.first_load, str(gap.days)) for gap in gaps] == [(True, "2025-01-01..2025-01-09")]


def test_all_of_a_table_that_was_never_published_is_a_first_load():
    gaps = in_bronze(holding([]), ALL)
    assert [(gap.kind, gap.first_load) for gap in gaps] == [(GapKind.INPUT_AHEAD, True)]


@pytest.mark.parametrize(
    ("state", "said"), [(RunState.FAILED, "failed"), (RunState.EXPIRED, "expired")]
)
def test_days_on_which_a_run_gave_up_name_it(state, said):
    table = holding(without(9, 10), ended=(ended(january(9, 9), state),))
    gaps = in_bronze(table, ALL)
    assert told(gaps) == [
        ("RUN_ENDED", "2025-01-09"),
        ("MISSING_PARTITION", "2025-01-10"),
    ]
    assert gaps[0].message.endswith(f"since run bf-20250131-cases-1.0.0-007 {said}")


def test_of_several_runs_that_gave_up_the_newest_is_named():
    newest = replace(ended(january(9)), run_id="bf-20250201-cases-1.0.0-009")
    table = holding(without(9), ended=(newest, ended(january(9))))
    assert "1.0.0-009 failed" in in_bronze(table, ALL)[0].message


def test_a_table_of_corrections_lacks_nothing_where_nothing_was_corrected():
    derived = DerivedContract(of=object, derive=lambda contract: contract)
    assert in_bronze(holding(without(9), loaded(schema=derived)), ALL) == ()


def test_a_table_that_starts_today_is_not_looked_at():
    inputs = {SOURCE: source(ALL, start=TODAY)}
    assert found(holding([], loaded()), inputs=inputs, today=START) == ()
