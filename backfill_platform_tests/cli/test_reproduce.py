"""What `backfill reproduce` says: which days differ, and in which of the two ways."""

from datetime import date

import pytest

from backfill_platform.cli.verbs.reproduce import show_reproduction
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.measurements import Content
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.reproductions import Attempt, DayDifference, Reproduction, Way

FIRST = date(2025, 1, 1)
DAYS = DayRange.closed(FIRST, date(2025, 1, 4))
RUN = RunId("bf-20261118-readings-1.0.0-001")
OWN = Way(name="as it was staged", chunks=(DAYS,))
OTHER = Way(name="cut and spread otherwise", chunks=DAYS.split(2), shuffle_partitions=7)


def reproduced(*differing: DayDifference) -> Reproduction:
    return Reproduction(
        run_id=RUN,
        table="bronze.readings",
        days=PartitionSet.of_range(DAYS),
        row_count=12,
        attempts=(
            Attempt(way=OWN, row_count=12, differing=()),
            Attempt(way=OTHER, row_count=12, differing=differing),
        ),
    )


def test_equal_in_both_ways_is_said_of_both(monkeypatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    show_reproduction(reproduced())
    assert capsys.readouterr().out.count("equal, rows and checksum of every partition") == 2


def test_a_day_that_differs_is_shown_with_what_was_expected_and_found(monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    one = DayDifference(
        day=FIRST,
        expected=Content(3, "12:00000000000000aa"),
        found=Content(4, "13:00000000000000bb"),
    )
    show_reproduction(reproduced(one))
    said = capsys.readouterr().out
    assert "2 chunks, 7 partitions: 1 partition differs" in said
    assert "2025-01-01  3 rows  …00000000000000aa  4 rows  …00000000000000bb" in said


def test_a_run_that_was_never_staged_is_refused_before_spark_is_started(call, planned) -> None:
    answer = call("reproduce", planned.run_id)
    assert answer.exit_code == 1
    assert answer.stderr.startswith("staging-incomplete: Nothing of run")
