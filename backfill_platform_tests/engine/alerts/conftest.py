"""A platform whose time a test sets, and whose alerts go where a test listens."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from backfill_platform.domain.alert_channels import FileChannel, WebhookChannel
from backfill_platform.domain.manifests import Manifest
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.governance.alerting import Alerting, AlertRule
from backfill_platform_tests.engine.lives import NOW
from backfill_platform_tests.notifier.web_receiver import WebReceiver, web_receiver
from backfill_platform_tests.readings import BRONZE, week


class Time:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def go(self, **units: float) -> None:
        self.now += timedelta(**units)


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def web() -> Iterator[WebReceiver]:
    with web_receiver() as receiver:
        yield receiver


@pytest.fixture
def alerted(platform: Platform, web: WebReceiver, time: Time) -> Platform:
    """Every alert goes to `web`; warnings are kept in a file as well."""
    alerting = Alerting(
        channels={"web": WebhookChannel(url=web.url), "log": FileChannel(path="alerts.jsonl")},
        rules=(AlertRule(name="all", channels=("web",), repeat_hours=4),),
    )
    return replace(platform, alerting=alerting, clock=time)


@pytest.fixture
def planned(alerted: Platform, intent: Callable) -> Manifest:
    return plan_run(alerted, intent(BRONZE, week(days=3), "plan:1"))
