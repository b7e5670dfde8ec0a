"""The one place that reads the time. Everything else is given an instant, or this function."""

from datetime import UTC, datetime


def utc_now() -> datetime:
    return datetime.now(UTC)
