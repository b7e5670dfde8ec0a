"""The sensor that tells lineage: it goes on where it was, and what it cannot tell waits."""

from collections.abc import Iterator

import dagster as dg
import pytest
from openlineage.client.event_v2 import RunEvent

from backfill_platform.domain.errors import EngineUnavailable
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.orchestration.sensors.lineage import make_lineage_sensor
from backfill_platform.telemetry.lineage_delivery import Deliver
from backfill_platform_tests.engine.by_hand import run_by_hand
from backfill_platform_tests.readings import BRONZE, week

DAYS = week(days=3)


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@pytest.fixture
def done(platform: Platform, intent) -> None:
    planned = plan_run(platform, intent(BRONZE, DAYS, "first"))
    run_by_hand(platform, planned, dict.fromkeys(DAYS, ("a", "b")))


def tick(platform: Platform, instance: dg.DagsterInstance, deliver: Deliver) -> str:
    with dg.build_sensor_context(instance=instance) as context:
        answer = make_lineage_sensor(platform, deliver)(context)
    assert isinstance(answer, dg.SkipReason)
    return answer.skip_message or ""


@pytest.mark.usefixtures("done")
def test_a_tick_tells_what_is_due_and_the_next_one_nothing(
    platform: Platform, instance: dg.DagsterInstance
) -> None:
    heard: list[RunEvent] = []
    said = [tick(platform, instance, heard.append) for _ in range(2)]
    assert (said, len(heard)) == (["4 events were told.", "0 events were told."], 4)


@pytest.mark.usefixtures("done")
def test_a_service_that_is_away_makes_no_tick_fail(
    platform: Platform, instance: dg.DagsterInstance
) -> None:
    def refuse(event: RunEvent) -> None:
        raise EngineUnavailable("the service is away")

    assert tick(platform, instance, refuse) == "the service is away"
    assert platform.ledger.lineage_due(limit=10) != ()
