"""A listing names exactly what stands in the daily folders; what lands again is another input."""

import os
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from backfill_platform.domain.partitions import DayRange
from backfill_platform.sources.files import day_files, landed_at, landing_mark, list_files
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


def test_when_days_landed_is_told_without_opening_a_file(landing):
    folder = day_files(landing, READINGS, DAYS.start)[0].parent
    (folder / "readings.parquet").write_bytes(b"no parquet at all")
    os.utime(folder / "readings.parquet", (1_000, 1_000))
    told = landed_at(landing, READINGS)
    assert (set(told), told[DAYS.start]) == (
        {*DAYS},
        datetime(1970, 1, 1, 0, 16, 40, tzinfo=UTC),
    )


def test_of_what_is_no_day_or_still_being_written_nothing_has_landed(landing):
    root = landing / READINGS.path
    folder = day_files(landing, READINGS, DAYS.start)[0].parent
    (folder / "readings.parquet").rename(folder / "_readings.parquet")
    (root / "day=soon").mkdir()
    (root / f"day={DAYS.last}0").mkdir()
    (root / "day=2025-02-01").write_text("no folder")
    assert set(landed_at(landing, READINGS)) == {*DAYS} - {DAYS.start}


def test_a_source_of_which_nothing_has_ever_landed_holds_nothing(tmp_path):
    assert landed_at(tmp_path, READINGS) == {}


def test_what_lies_as_it_lay_has_the_same_mark(landing):
    assert landing_mark(landing, READINGS) == landing_mark(landing, READINGS)


@pytest.mark.parametrize(
    "change",
    [
        lambda file: os.utime(file, (1_000, 1_000)),
        lambda file: file.unlink(),
        lambda file: (file.parent / "more.parquet").write_bytes(b"more"),
        lambda file: file.rename(file.parent / "_readings.parquet"),
    ],
)
def test_a_file_that_comes_goes_or_is_written_anew_changes_the_mark(landing, change):
    before = landing_mark(landing, READINGS)
    change(day_files(landing, READINGS, DAYS.last)[0])
    assert landing_mark(landing, READINGS) != before


def test_a_source_of_which_nothing_has_ever_landed_has_a_mark(landing, tmp_path):
    (landing / READINGS.path / "day=2025-02-01").write_text("no folder")
    assert landing_mark(tmp_path / "nowhere", READINGS) != landing_mark(landing, READINGS)
