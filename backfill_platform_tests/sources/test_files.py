"""A listing names exactly what stands in the daily folders; what lands again is another input."""

from dataclasses import replace
from datetime import date

import pytest

from backfill_platform.domain.partitions import DayRange
from backfill_platform.sources.files import day_files, list_files
from backfill_platform_tests.readings import READINGS, land, week

DAYS = week()
ONE = DayRange.of_day(DAYS.start)


@pytest.fixture
def landing(tmp_path):
    land(tmp_path, DAYS)
    return tmp_path


def test_days_without_files_are_left_out(landing):
    wider = DAYS.widen(before_days=3, after_days=3)
    assert list(list_files(landing, READINGS, wider).digests) == list(DAYS)


def test_the_same_files_give_the_same_snapshot(landing):
    assert list_files(landing, READINGS, DAYS) == list_files(landing, READINGS, DAYS)


def test_a_day_that_was_landed_again_changes_its_digest_and_no_other(landing):
    before = list_files(landing, READINGS, DAYS)
    land(landing, ONE, [("c", 9)])
    after = list_files(landing, READINGS, DAYS)
    moved = {day for day in DAYS if before.digests[day] != after.digests[day]}
    assert (moved, after.snapshot == before.snapshot) == ({DAYS.start}, False)


def test_files_that_are_still_being_written_are_not_read(landing):
    folder = day_files(landing, READINGS, DAYS.start)[0].parent
    before = list_files(landing, READINGS, ONE)
    (folder / ".half.parquet").write_bytes(b"half")
    (folder / "_half.parquet").write_bytes(b"half")
    assert list_files(landing, READINGS, ONE) == before


def test_a_source_that_is_not_there_holds_nothing(tmp_path):
    nowhere = replace(READINGS, path="nowhere")
    assert list_files(tmp_path, nowhere, [date(2025, 1, 1)]).days is None
