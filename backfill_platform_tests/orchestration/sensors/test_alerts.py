"""The sensor that tells: what a tick did stands in its reason, and nothing is launched."""

from dataclasses import replace
from itertools import pairwise

import dagster as dg
import pytest
from dagster_pyspark import PySparkResource

from backfill_platform.domain.alert_channels import WebhookChannel
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.governance.alerting import Alerting, AlertRule
from backfill_platform.orchestration.build import assemble
from backfill_platform.orchestration.sensors.alerts import make_alert_sensor
from backfill_platform_tests.readings import BRONZE, week

S = RunState


@pytest.fixture
def planned(platform: Platform, intent) -> Manifest:
    return plan_run(platform, intent(BRONZE, week(days=3), "plan:1"))


def tick(platform: Platform) -> str:
    with dg.instance_for_test() as instance:
        context = dg.build_sensor_context(instance=instance)
        reason = make_alert_sensor(platform)(context)
    assert isinstance(reason, dg.SkipReason)
    return reason.skip_message or ""


def move(platform: Platform, manifest: Manifest, *states: RunState) -> None:
    """Now, and not when other tests say that it is now: an old failure is no news."""
    for state, following in pairwise(states):
        platform.ledger.move(
            manifest.run_id,
            state,
            following,
            actor="ana",
            cause="tests",
            details={},
            now=platform.clock(),
        )


def fail(platform: Platform, manifest: Manifest) -> None:
    move(platform, manifest, S.PLANNED, S.APPROVED, S.STAGING, S.FAILED)


def test_a_quiet_tick_says_so(platform: Platform, planned: Manifest) -> None:
    assert tick(platform) == "nothing new"


def test_a_failure_is_opened_and_delivered_in_one_tick(
    platform: Platform, planned: Manifest
) -> None:
    fail(platform, planned)
    assert tick(platform) == "1 opened, 1 delivered"
    assert tick(platform) == "nothing new"
    move(platform, planned, S.FAILED, S.CANCELLED)
    assert tick(platform) == "1 resolved, 1 delivered"


def test_what_cannot_be_delivered_is_postponed_and_breaks_no_tick(
    platform: Platform, planned: Manifest
) -> None:
    channels = {"dead": WebhookChannel(url="http://127.0.0.1:1/")}
    rules = (AlertRule(name="all", channels=("dead",)),)
    dead = replace(platform, alerting=Alerting(channels=channels, rules=rules))
    fail(dead, planned)
    assert tick(dead) == "1 opened, 1 postponed"


def test_it_runs_wherever_the_platform_is_loaded(platform: Platform) -> None:
    loaded = assemble(platform, PySparkResource(spark_config={})).get_repository_def()
    sensor = loaded.get_sensor_def("alerts")
    assert sensor.default_status is dg.DefaultSensorStatus.RUNNING
