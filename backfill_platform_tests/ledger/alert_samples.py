"""Alerts that ledger tests write."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from backfill_platform.domain.alerts import (
    Alert,
    AlertChange,
    AlertEvent,
    AlertKind,
    AlertRound,
    AlertSeverity,
)
from backfill_platform_tests.ledger.samples import NOW, TABLE


def alert(subject: str = "bf-1", **changed: Any) -> Alert:
    said = Alert(
        kind=AlertKind.RUN_FAILED,
        subject=subject,
        table=TABLE,
        severity=AlertSeverity.CRITICAL,
        title=f"Run {subject} failed",
        message="disk full; make room",
    )
    return replace(said, **changed)


def opening(*alerts: Alert, channels: tuple[str, ...] = ("log",), at: datetime = NOW) -> AlertRound:
    return AlertRound(
        changes=tuple(
            AlertChange(
                event=AlertEvent.OPENED,
                alert=one,
                opened_at=at,
                known_told_at=None,
                channels=channels,
            )
            for one in alerts
        )
    )


def following(
    event: AlertEvent,
    one: Alert,
    *,
    known_told_at: datetime = NOW,
    channels: tuple[str, ...] = ("log",),
) -> AlertRound:
    """Of an alert that was opened at `NOW`."""
    change = AlertChange(
        event=event,
        alert=one,
        opened_at=NOW,
        known_told_at=known_told_at,
        channels=channels,
    )
    return AlertRound(changes=(change,))
