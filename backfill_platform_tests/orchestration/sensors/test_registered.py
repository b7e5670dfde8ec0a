"""Every sensor runs from the start, needs nothing that starts a JVM, and skips with a reason."""

from dataclasses import replace

import dagster as dg
import pytest

from backfill_platform.domain.errors import EngineUnavailable
from backfill_platform.orchestration.sensors.alerts import make_alert_sensor
from backfill_platform.orchestration.sensors.gaps import make_gap_sensor
from backfill_platform.orchestration.sensors.looks import Answer, make_sensor
from backfill_platform.orchestration.sensors.registered import build_schedules, build_sensors

SENSORS = (
    "publish_what_is_ready",
    "restate_downstream",
    "recover_what_died",
    "expire_plans",
)


def test_all_of_them_are_part_of_a_deployment_and_run(world):
    sensors = {one.name: one for one in build_sensors(world.platform)}
    assert set(SENSORS) <= set(sensors)
    assert {one.default_status for one in sensors.values()} == {dg.DefaultSensorStatus.RUNNING}
    schedules = build_schedules(world.platform)
    assert {one.name for one in schedules} == {"daily_live", "retire_files_daily"}
    assert {one.default_status for one in schedules} == {dg.DefaultScheduleStatus.RUNNING}


@pytest.mark.parametrize("name", SENSORS)
def test_none_asks_for_spark(world, name):
    assert world.repository.get_sensor_def(name).required_resource_keys == set()


@pytest.mark.parametrize("name", SENSORS)
def test_where_there_is_nothing_to_do_it_says_so_in_a_sentence(world, name):
    found = world.tick(name)
    assert found.run_requests == []
    assert found.skip_message.endswith(".")


def look_away(platform, instance, cursor) -> Answer:
    raise EngineUnavailable("The ledger is locked; try again")


def test_a_tick_that_the_platform_refuses_says_why_and_keeps_its_cursor(world):
    away = make_sensor(
        world.platform, name="away", description="tests", every_seconds=30, look=look_away
    )
    context = dg.build_sensor_context(
        instance=world.instance, cursor="here", repository_def=world.repository
    )
    told = away.evaluate_tick(context)
    assert told.skip_message == "engine-unavailable: The ledger is locked; try again"
    assert told.cursor == "here"


class LockedLedger:
    """A ledger of which nothing can be had."""

    def __getattr__(self, name: str):
        raise EngineUnavailable("The ledger is locked; try again")


@pytest.mark.parametrize("make", [make_gap_sensor, make_alert_sensor])
def test_also_a_tick_with_a_look_of_its_own_says_why_it_cannot_be_done(world, make):
    sensor = make(replace(world.platform, ledger=LockedLedger()))
    context = dg.build_sensor_context(instance=world.instance, repository_def=world.repository)
    assert "The ledger is locked" in sensor.evaluate_tick(context).skip_message
