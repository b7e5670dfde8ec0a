"""A message, as it is sent."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from backfill_platform.domain.alerts import Alert, AlertEvent, AlertKind, AlertSeverity, Notice

NOW = datetime(2026, 7, 4, 9, 0, tzinfo=UTC)
ALERT = Alert(
    kind=AlertKind.RUN_FAILED,
    subject="bf-1",
    table="silver.totals",
    severity=AlertSeverity.CRITICAL,
    title="Run bf-1 failed",
    message="The disk is full: <80 % & more>. `backfill retry bf-1` goes on.",
)


def notice(**changed: Any) -> Notice:
    said = Notice(event=AlertEvent.OPENED, alert=ALERT, opened_at=NOW, at=NOW, channel="chat")
    return replace(said, **changed)


def no_secret(name: str) -> str:
    raise AssertionError(f"{name} is asked for, and nothing here needs it")
