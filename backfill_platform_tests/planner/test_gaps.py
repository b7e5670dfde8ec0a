"""What is wrong with days that a table holds."""

from datetime import UTC, date, datetime
from decimal import Decimal
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backfill_platform.domain.gaps import GapKind
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.quality import Quality, Tolerance
from backfill_platform.planner.gap_facts import LateDay, LooseCommit
from backfill_platform_tests.planner.gap_worlds import (
    accepted,
    ended,
    holding,
    in_bronze,
    january,
    loaded,
    told,
)

ALL = january(1, 31)
EARLIER = datetime(2025, 1, 31, tzinfo=UTC)
HALF = loaded(quality=Quality(rows_least_share_of_usual=Decimal("0.5")))
LATE = loaded(quality=Quality(late_rows=Tolerance(absolute=Decimal(2))))
SOMEBODY = LooseCommit(version=7, author="an engine", days=(*january(3), *january(9)))


def rows(**others: int) -> dict[date, int]:
    few = {date(2025, 1, int(name.removeprefix("on_"))): count for name, count in others.items()}
    return dict.fromkeys(ALL, 10) | few


def test_a_day_with_too_few_rows_against_the_days_before_is_told_with_what_is_usual():
    (gap,) = in_bronze(holding(ALL, HALF, rows=rows(on_20=4)), ALL)
    assert (gap.kind, str(gap.days), gap.message) == (
        GapKind.TOO_FEW_ROWS,
        "2025-01-20",
        "2025-01-20 holds 4 rows, and 10 are usual; the table declares at least 50% of that",
    )


@pytest.mark.parametrize(
    ("count", "why"),
    [({"on_20": 5}, "just as many as declared"), ({"on_7": 0}, "too few days before it")],
)
def test_a_day_with_enough_rows_or_nothing_to_compare_with_is_no_gap(count, why):
    assert in_bronze(holding(ALL, HALF, rows=rows(**count)), ALL) == (), why


def test_a_table_that_declares_nothing_may_have_few_rows():
    assert in_bronze(holding(ALL, rows=rows(on_20=1)), ALL) == ()


@given(st.lists(st.integers(0, 50), min_size=31, max_size=31))
def test_what_is_usual_is_the_median_of_the_days_before(counts):
    held = dict(zip(ALL, counts, strict=True))
    few = [
        day
        for day in ALL
        if day.day > 7
        and held[day] < median([held[one] for one in ALL if 0 < (day - one).days <= 28]) / 2
    ]
    gaps = in_bronze(holding(ALL, HALF, rows=held), ALL)
    assert [day for gap in gaps for day in gap.days or ()] == few


def test_rows_that_arrived_since_a_day_was_accepted_are_late():
    late = {day: LateDay(computed_from=10, arrived_since=3) for day in january(4, 5)}
    (gap,) = in_bronze(holding(ALL, LATE, late=late), ALL)
    assert (gap.kind, gap.message) == (
        GapKind.LATE_DATA,
        "the inputs of 2025-01-04..2025-01-05 hold +6 rows since they were accepted",
    )


def test_as_many_late_rows_as_the_table_bears_are_no_gap():
    late = dict.fromkeys(january(4), LateDay(computed_from=10, arrived_since=2))
    assert in_bronze(holding(ALL, LATE, late=late), ALL) == ()


def test_rows_that_are_gone_since_are_told_as_well():
    late = dict.fromkeys(january(4), LateDay(computed_from=10, arrived_since=-4))
    assert "-4 rows" in in_bronze(holding(ALL, LATE, late=late), ALL)[0].message


def test_a_commit_that_no_run_explains_is_told_with_its_days_and_its_author():
    (gap,) = in_bronze(holding(ALL, commits=(SOMEBODY,)), ALL)
    assert (gap.key, gap.message) == (
        "bronze.cases:commit-7",
        "version 7 changed rows of 2025-01-03, 2025-01-09; no run explains it (made by an engine)",
    )


def test_what_was_published_since_a_strange_commit_stands_on_its_own():
    newer = accepted(ALL) | accepted(january(3), version=8)
    (gap,) = in_bronze(holding(ALL, accepted=newer, commits=(SOMEBODY,)), ALL)
    assert str(gap.days) == "2025-01-09"


def test_a_strange_commit_is_no_gap_once_all_of_its_days_were_published_anew():
    table = holding(ALL, accepted=accepted(ALL, version=8), commits=(SOMEBODY,))
    assert in_bronze(table, ALL) == ()


def test_a_strange_commit_that_names_no_days_stays():
    unnamed = LooseCommit(version=7, author="an engine", days=())
    (gap,) = in_bronze(holding(ALL, accepted=accepted(ALL, version=8), commits=(unnamed,)), ALL)
    assert gap.days is None


def test_a_failed_run_over_days_that_hold_something_is_told_by_itself():
    table = holding(ALL, ended=(ended(january(3, 4)),), accepted=accepted(ALL, at=EARLIER))
    assert told(in_bronze(table, ALL)) == [("RUN_ENDED", "2025-01-03..2025-01-04")]


@pytest.mark.parametrize(
    ("run", "at"),
    [
        (ended(january(3, 4), RunState.EXPIRED), datetime(2025, 1, 5, tzinfo=UTC)),
        (ended(january(3, 4)), datetime(2025, 2, 1, 8, tzinfo=UTC)),
        (ended(january(3, 4), hours_ago=24 * 40), datetime(2024, 12, 1, tzinfo=UTC)),
    ],
)
def test_nobody_is_reminded_of_what_expired_was_accepted_since_or_is_long_ago(run, at):
    assert in_bronze(holding(ALL, ended=(run,), accepted=accepted(ALL, at=at)), ALL) == ()
