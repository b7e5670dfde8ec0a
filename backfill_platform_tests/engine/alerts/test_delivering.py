"""Messages arrive, again after a failure or a crash, once each for whoever drops repeats."""

import json
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from functools import partial

import pytest

from backfill_platform.domain.alert_channels import AlertChannel, FileChannel, WebhookChannel
from backfill_platform.engine.alerts.delivering import DeliveryRound, deliver_alerts
from backfill_platform.engine.alerts.raising import raise_alerts
from backfill_platform.engine.platform import Platform
from backfill_platform.governance.alerting import MOST_ATTEMPTS, Alerting, AlertRule
from backfill_platform.ledger.alert_book import AlertBook
from backfill_platform.ledger.store import Ledger
from backfill_platform.settings import load_settings
from backfill_platform_tests.engine.alerts.conftest import Time
from backfill_platform_tests.engine.alerts.reported import report_gaps
from backfill_platform_tests.notifier.web_receiver import WebReceiver
from backfill_platform_tests.racing import run_together
from backfill_platform_tests.readings import BRONZE

NOWHERE = WebhookChannel(url="http://127.0.0.1:1/")
LOG = FileChannel(path="alerts.jsonl")


def raised(platform: Platform, *keys: str) -> None:
    """Exactly these are open; what was open before and is none of them is over."""
    report_gaps(platform, dict.fromkeys(keys, "A day is missing."))
    raise_alerts(platform)


def told_by(platform: Platform, **channels: AlertChannel) -> Platform:
    rules = (AlertRule(name="all", channels=tuple(channels)),)
    return replace(platform, alerting=Alerting(channels=channels, rules=rules))


def deliver_after(platform: Platform, time: Time, **units: float) -> DeliveryRound:
    time.go(**units)
    return deliver_alerts(platform)


def lines(platform: Platform) -> list[str]:
    path = platform.home / LOG.path
    subjects = [json.loads(line)["subject"] for line in path.read_text().splitlines()]
    return [subject.removeprefix(f"{BRONZE}:") for subject in subjects]


class Died(BaseException):
    """As a process ends that is killed: nothing that follows happens."""


class DyingBook(AlertBook):
    def record_delivered(self, delivery_id: str, *, now: datetime) -> None:
        raise Died


class DyingLedger(Ledger):
    @property
    def alerts(self) -> AlertBook:
        return DyingBook(self._engine)


def test_a_message_arrives_once(alerted: Platform, web: WebReceiver) -> None:
    raised(alerted, "gap")
    assert deliver_alerts(alerted).delivered == 1
    assert deliver_alerts(alerted) == DeliveryRound(attempts=(), waiting=0)
    assert web.events == ["OPENED"]


def test_the_end_arrives_after_the_beginning(alerted: Platform, web: WebReceiver, time) -> None:
    raised(alerted, "gap")
    time.go(minutes=1)
    raised(alerted)
    assert deliver_alerts(alerted).delivered == 2
    assert web.events == ["OPENED", "RESOLVED"]


def test_a_reminder_arrives_as_a_message_of_its_own(alerted, web: WebReceiver, time: Time) -> None:
    raised(alerted, "gap")
    time.go(hours=4)
    raised(alerted, "gap")
    deliver_alerts(alerted)
    assert web.events == ["OPENED", "REMINDED"]
    assert len(set(web.ids)) == 2


def test_a_receiver_that_fails_twice_gets_it_the_third_time(
    alerted: Platform, web: WebReceiver, time: Time
) -> None:
    web.answers = [500, 503]
    raised(alerted, "gap")
    rounds = [deliver_after(alerted, time, minutes=minutes) for minutes in (0, 1, 2)]
    assert [found.delivered for found in rounds] == [0, 0, 1]
    assert [found.waiting for found in rounds] == [1, 1, 0]
    assert len(web.ids) == 3
    assert len(set(web.ids)) == 1


def test_between_attempts_nobody_is_asked(alerted: Platform, web: WebReceiver, time: Time) -> None:
    web.answers = [500]
    raised(alerted, "gap")
    deliver_alerts(alerted)
    deliver_after(alerted, time, seconds=59)
    assert len(web.received) == 1


def test_after_a_crash_the_same_message_is_sent_again(
    alerted: Platform, web: WebReceiver, time: Time
) -> None:
    raised(alerted, "gap")
    with closing(DyingLedger.open(load_settings().ledger_url)) as dying, pytest.raises(Died):
        deliver_alerts(replace(alerted, ledger=dying))
    assert deliver_alerts(alerted).attempts == ()
    assert deliver_after(alerted, time, minutes=1).delivered == 1
    assert web.ids[0] == web.ids[1]
    assert len(web.ids) == 2


def deliver_in_a_process(url: str, platform: Platform) -> int:
    with closing(Ledger.open(url)) as ledger:
        return deliver_alerts(replace(platform, ledger=ledger)).delivered


def test_two_workers_send_each_message_once(alerted: Platform, web: WebReceiver) -> None:
    logged = told_by(alerted, log=LOG)
    raised(logged, *(f"gap-{number}" for number in range(20)))
    worker = partial(deliver_in_a_process, load_settings().ledger_url, logged)
    assert sum(run_together([worker, worker, worker])) == 20
    assert sorted(lines(logged)) == sorted(f"gap-{number}" for number in range(20))


def test_a_channel_that_fails_holds_up_no_other(alerted: Platform) -> None:
    both = told_by(alerted, dead=NOWHERE, log=LOG)
    raised(both, "a", "b", "c")
    found = deliver_alerts(both)
    assert (found.delivered, found.waiting) == (3, 3)
    assert sorted(lines(both)) == ["a", "b", "c"]


def test_a_channel_that_fails_is_asked_once_in_a_call(alerted: Platform) -> None:
    dead = told_by(alerted, dead=NOWHERE)
    raised(dead, "a", "b", "c")
    assert len(deliver_alerts(dead).attempts) == 1


def test_what_fails_is_kept_with_its_reason(alerted: Platform) -> None:
    dead = told_by(alerted, dead=NOWHERE)
    raised(dead, "gap")
    deliver_alerts(dead)
    (kept,) = dead.ledger.alerts.undelivered()
    assert (kept.attempts, kept.delivered_at) == (1, None)
    assert kept.error.startswith("127.0.0.1 could not be asked (ConnectionError)")


def test_a_message_is_given_up_after_a_day_of_attempts(alerted: Platform, time: Time) -> None:
    dead = told_by(alerted, dead=NOWHERE)
    raised(dead, "gap")
    rounds = [deliver_after(dead, time, hours=1) for _ in range(MOST_ATTEMPTS + 5)]
    assert sum(len(found.attempts) for found in rounds) == MOST_ATTEMPTS
    assert rounds[-1].waiting == 0
    assert dead.ledger.alerts.undelivered()[0].attempts == MOST_ATTEMPTS


def test_what_time_is_left_for_is_postponed(alerted: Platform, time: Time) -> None:
    logged = replace(told_by(alerted, log=LOG), clock=_slow(time))
    raised(logged, "a", "b", "c", "d")
    found = deliver_alerts(logged, budget_seconds=10)
    assert found.delivered in (1, 2, 3)
    assert found.waiting == 4 - found.delivered
    assert len(lines(logged)) == found.delivered


def _slow(time: Time):
    """Every look at the clock takes a second."""

    def look() -> datetime:
        time.go(seconds=1)
        return time()

    return look


def test_a_secret_that_is_not_set_is_the_reason_and_stops_nothing(alerted: Platform) -> None:
    secret = told_by(alerted, hook=WebhookChannel(url="${BACKFILL_TEST_NOT_SET}"), log=LOG)
    raised(secret, "gap")
    found = deliver_alerts(secret)
    assert found.delivered == 1
    assert found.failures[0].error.startswith("BACKFILL_TEST_NOT_SET is not set where this runs")


def test_a_channel_that_was_removed_is_named(alerted: Platform) -> None:
    raised(alerted, "gap")
    (attempt,) = deliver_alerts(told_by(alerted, log=LOG)).attempts
    assert attempt.error.startswith("alerts.yaml has no channel 'web' any more")


def test_who_was_told_by_an_old_rule_hears_of_the_end(
    alerted: Platform, web: WebReceiver, time: Time
) -> None:
    raised(alerted, "gap")
    time.go(minutes=1)
    rules = (AlertRule(name="nobody"),)
    raised(replace(alerted, alerting=replace(alerted.alerting, rules=rules)))
    deliver_alerts(alerted)
    assert web.events == ["OPENED", "RESOLVED"]
