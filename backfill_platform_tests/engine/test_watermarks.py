"""How far tables and sources have come, and whether a table holds what was accepted. No Spark."""

from datetime import date

import pytest

from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.engine.look.holdings import Held, check_holdings
from backfill_platform.engine.look.watermarks import find_gaps, read_watermark
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.lakehouse.delta_tables import create_table
from backfill_platform_tests.engine.lives import publish_whole, stage_whole
from backfill_platform_tests.engine.written import publish_day, write_day
from backfill_platform_tests.readings import BRONZE, LANDING, land, week

DAYS = week(days=3)


@pytest.fixture
def published(platform, intent):
    """The ledger says that a run published three days; the table is another matter."""
    manifest = plan_run(platform, intent(BRONZE, DAYS, "watermark"))
    stage_whole(platform.ledger, manifest)
    publish_whole(platform.ledger, manifest)
    contract = platform.catalog.contracts[BRONZE]
    create_table(platform.warehouse.table_path(BRONZE), contract, partition_column="day")
    return manifest


@pytest.fixture
def holdings(platform, published):
    def check():
        found = check_holdings(
            platform.ledger,
            platform.warehouse,
            published.run_id,
            BRONZE,
            published.target.partitions,
        )
        return [one.held for one in found]

    return check


def test_a_source_is_as_far_as_its_folders(platform):
    land(platform.landing, week(start=date(2025, 1, 10), days=2))
    found = read_watermark(platform, LANDING)
    assert (found.first, found.last, found.partitions, found.rows) == (
        date(2025, 1, 1),
        date(2025, 1, 11),
        9,
        18,
    )
    assert str(found.gaps) == "2025-01-08..2025-01-09"


def test_a_table_that_does_not_exist_has_no_watermark(platform):
    found = read_watermark(platform, BRONZE)
    assert (found.last, found.version, found.last_accepted_run, found.gaps) == (None,) * 4


def test_a_table_names_the_run_that_was_accepted_last(platform, published):
    found = read_watermark(platform, BRONZE)
    assert (found.last, found.last_accepted_run) == (DAYS.last, published.run_id)


def test_a_day_that_was_accepted_without_rows_is_no_gap(platform, published):
    assert read_watermark(platform, BRONZE).gaps is None


def test_rows_that_no_run_published_count_and_leave_gaps_before_them(platform):
    contract = platform.catalog.contracts[BRONZE]
    path = platform.warehouse.table_path(BRONZE)
    create_table(path, contract, partition_column="day")
    write_day(path, date(2025, 1, 3), rows=5)
    found = read_watermark(platform, BRONZE)
    assert (found.rows, found.last_accepted_run) == (5, None)
    assert str(found.gaps) == "2025-01-01..2025-01-02"


def test_what_is_still_to_come_is_no_gap():
    assert find_gaps(date(2025, 1, 1), [date(2025, 1, 1)]) is None


def test_days_before_the_start_are_no_gap():
    assert find_gaps(date(2025, 1, 5), [date(2025, 1, 3)]) is None


def test_gaps_are_named_exactly():
    days = [date(2025, 1, 1), date(2025, 1, 4)]
    expected = PartitionSet.of_days([date(2025, 1, 2), date(2025, 1, 3)])
    assert find_gaps(date(2025, 1, 1), days) == expected


def test_a_partition_that_is_gone_is_told(holdings):
    assert holdings() == [Held.GONE] * 3


def test_a_partition_that_somebody_else_wrote_into_is_told(platform, holdings):
    write_day(platform.warehouse.table_path(BRONZE), DAYS.start, rows=2)
    assert holdings()[0] is Held.OTHER_FILES


def test_files_of_the_run_with_the_accepted_rows_are_as_accepted(platform, published, holdings):
    publish_day(platform, published.run_id, DAYS.start, rows=2)
    assert holdings()[0] is Held.AS_ACCEPTED


def test_files_of_the_run_with_other_rows_are_told(platform, published, holdings):
    publish_day(platform, published.run_id, DAYS.start, rows=3)
    assert holdings()[0] is Held.OTHER_ROWS


def test_partitions_that_a_later_run_replaced_are_not_looked_at(platform, intent, published):
    later = plan_run(platform, intent(BRONZE, DAYS, "later"))
    stage_whole(platform.ledger, later)
    publish_whole(platform.ledger, later, version=2)
    found = check_holdings(
        platform.ledger, platform.warehouse, published.run_id, BRONZE, published.target.partitions
    )
    assert found == ()
