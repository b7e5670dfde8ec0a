"""What a chunk's frames hold: the window of each of its days, whatever else is in the chunk."""

from datetime import timedelta

import pytest

from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.carry_out.frames import chunk_frames
from backfill_platform.engine.carry_out.starting import open_run
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform_tests.engine.by_hand import run_by_hand
from backfill_platform_tests.readings import BRONZE, SILVER, week

DAYS = week()
MIDDLE = DayRange(DAYS.start + timedelta(days=2), DAYS.end_exclusive - timedelta(days=2))


@pytest.fixture
def days_read(platform, spark, intent):
    """Opens a run over the middle days and tells which days of input a chunk of it reads."""
    loaded = plan_run(platform, intent(BRONZE, DAYS, "load"))
    run_by_hand(platform, loaded, dict.fromkeys(DAYS, ("a",)))
    manifest = open_run(platform, intent(SILVER, MIDDLE, "totals"))

    def read(chunk):
        found = chunk_frames(platform, spark, manifest, chunk).inputs[BRONZE].select("day")
        return sorted({row.day for row in found.collect()})

    return read


@pytest.mark.parametrize(
    "chunk",
    [MIDDLE, DayRange.of_day(MIDDLE.start), DayRange.of_day(MIDDLE.last)],
    ids=["whole", "first day", "last day"],
)
def test_a_chunk_reads_the_warm_up_of_its_first_day_and_the_late_days_of_its_last(days_read, chunk):
    """Of bronze.readings a day uses the day before and the day after."""
    assert days_read(chunk) == list(chunk.widen(before_days=1, after_days=1))
