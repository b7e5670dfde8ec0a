"""The daily load: one launch of yesterday, or a reason why not."""

from datetime import UTC, datetime

import pytest

from backfill_platform.domain.lifecycle import RunState
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.sensors.daily import NAME
from backfill_platform_tests.orchestration.sensors.ticks import World
from backfill_platform_tests.readings import BRONZE, SILVER

NIGHT = datetime(2025, 1, 3, 0, 30, tzinfo=UTC)
LATER = datetime(2025, 3, 1, 0, 30, tzinfo=UTC)


def test_yesterday_is_asked_for_of_every_table_in_one_live_launch(world):
    (request,) = world.schedule(NAME, NIGHT).run_requests
    said = request.tags
    assert (said[tags.RANGE_START], said[tags.RANGE_END]) == ("2025-01-02", "2025-01-02")
    assert (said[tags.KIND], said[tags.PRIORITY]) == ("LIVE", "10")
    assert (said[tags.REASON], said[tags.REQUESTED_BY]) == ("the daily load", "daily-live")
    assert [key.to_user_string() for key in request.asset_selection] == [
        "staging/bronze/readings",
        "bronze/readings",
        "staging/silver/totals",
        "silver/totals",
    ]


def test_a_repeated_tick_asks_for_the_same_launch(world):
    first, again = (world.schedule(NAME, NIGHT).run_requests for _ in range(2))
    assert first == again
    assert first[0].tags[tags.LAUNCH] == "daily-live-2025-01-02"


def test_what_has_not_landed_is_a_reason_and_no_failed_run(world):
    found = world.schedule(NAME, LATER)
    assert found.run_requests == []
    assert "holds nothing for 2025-02-28" in found.skip_message


def test_its_job_holds_the_gates_of_all_tables(world):
    schedule = world.repository.get_schedule_def(NAME)
    (request,) = world.schedule(NAME, NIGHT).run_requests
    job = world.repository.get_job(schedule.job_name)
    chosen = job.get_subset(
        asset_selection=set(request.asset_selection), asset_check_selection=None
    )
    assert {key.name for key in chosen.asset_layer.asset_graph.asset_check_keys} >= {
        "key_unique",
        "reconciled",
    }


@pytest.fixture
def computing(world: World, spark) -> World:
    return world


def test_what_is_asked_for_loads_and_publishes_every_table(computing):
    (request,) = computing.schedule(NAME, NIGHT).run_requests
    assert computing.carry_out(request).success
    states = {one.table: one.state for one in computing.platform.ledger.runs()}
    assert states == {BRONZE: RunState.PUBLISHED, SILVER: RunState.PUBLISHED}
    found = computing.schedule(NAME, NIGHT)
    assert found.skip_message == "every daily table has 2025-01-02 already"
