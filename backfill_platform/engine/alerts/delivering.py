"""Delivers the messages that wait, for a limited time; what fails waits, and holds up nothing else.

A message is claimed, sent and recorded. Whoever dies in between leaves a claim that ends, and the
message is sent again under the same id. A channel that fails is left alone until the next call.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from backfill_platform.domain.alerts import (
    Alert,
    AlertDelivery,
    AlertEvent,
    AlertKind,
    AlertSeverity,
    Notice,
)
from backfill_platform.domain.errors import AlertUndelivered, SettingsInvalid
from backfill_platform.engine.platform import Platform
from backfill_platform.governance.alerting import MOST_ATTEMPTS, next_attempt
from backfill_platform.notifier.sending import send
from backfill_platform.settings import read_secret

BUDGET_SECONDS = 10.0
_AT_ONCE = 50

FindSecret = Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    notice: Notice
    error: str  # empty when it was delivered


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryRound:
    attempts: tuple[Attempt, ...]
    waiting: int  # messages that are still to be delivered

    @property
    def delivered(self) -> int:
        return sum(not attempt.error for attempt in self.attempts)

    @property
    def failures(self) -> tuple[Attempt, ...]:
        return tuple(attempt for attempt in self.attempts if attempt.error)


def deliver_alerts(
    platform: Platform,
    *,
    budget_seconds: float = BUDGET_SECONDS,
    find_secret: FindSecret = read_secret,
) -> DeliveryRound:
    ends_at = platform.clock() + timedelta(seconds=budget_seconds)
    attempts = tuple(_attempts(platform, find_secret, ends_at))
    waiting = platform.ledger.alerts.count_waiting(most_attempts=MOST_ATTEMPTS)
    return DeliveryRound(attempts=attempts, waiting=waiting)


def _attempts(platform: Platform, find_secret: FindSecret, ends_at: datetime) -> Iterator[Attempt]:
    resting: set[str] = set()
    while due := _due(platform, resting):
        for one in due:
            if platform.clock() >= ends_at:
                return
            if one.notice.channel in resting or not _claim(platform, one):
                continue
            attempt = _attempt(platform, one.notice, find_secret)
            if attempt.error:
                resting.add(one.notice.channel)
            yield attempt


def _due(platform: Platform, resting: set[str]) -> tuple[AlertDelivery, ...]:
    return platform.ledger.alerts.due_deliveries(
        platform.clock(), most_attempts=MOST_ATTEMPTS, without=resting, limit=_AT_ONCE
    )


def _claim(platform: Platform, due: AlertDelivery) -> bool:
    until = next_attempt(due.attempts + 1, platform.clock())
    return platform.ledger.alerts.claim_delivery(due, until=until)


def _attempt(platform: Platform, notice: Notice, find_secret: FindSecret) -> Attempt:
    error = _send(platform, notice, find_secret)
    book = platform.ledger.alerts
    if error:
        book.record_failed(notice.delivery_id, error=error)
    else:
        book.record_delivered(notice.delivery_id, now=platform.clock())
    return Attempt(notice=notice, error=error)


def _send(platform: Platform, notice: Notice, find_secret: FindSecret) -> str:
    """Why it did not arrive; nothing when it did."""
    channel = platform.alerting.channels.get(notice.channel)
    if channel is None:
        return f"alerts.yaml has no channel {notice.channel!r} any more; add it, or leave it"
    try:
        send(channel, notice, find_secret=find_secret, home=platform.home)
    except (AlertUndelivered, SettingsInvalid) as refusal:
        return str(refusal)
    return ""


def draft_test(channel: str, now: datetime) -> Notice:
    """A message about nothing, to see whether a channel works."""
    alert = Alert(
        kind=AlertKind.RUN_FAILED,
        subject="test",
        table="test",
        severity=AlertSeverity.WARNING,
        title=f"the channel {channel} works",
        message="Nothing has happened. Somebody asked with `backfill alerts --test`.",
    )
    return Notice(event=AlertEvent.TESTED, alert=alert, opened_at=now, at=now, channel=channel)
