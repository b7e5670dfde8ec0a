"""Numbers as people read them: sizes, durations, money, days."""

from datetime import datetime
from decimal import Decimal

from backfill_platform.domain.partitions import PartitionSet

_STEP = 1000
_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_RANGES_SHOWN = 3


def show_rows(rows: int | None) -> str:
    return "–" if rows is None else f"{rows:,}"


def show_bytes(size: int) -> str:
    amount, unit = float(size), 0
    while amount >= _STEP and unit < len(_UNITS) - 1:
        amount, unit = amount / _STEP, unit + 1
    return f"{amount:.0f} {_UNITS[unit]}" if unit == 0 else f"{amount:.1f} {_UNITS[unit]}"


def show_seconds(seconds: float | None) -> str:
    """To the two units that matter."""
    if seconds is None:
        return "–"
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return _two(whole, _MINUTE, "min", 1, "s")
    if whole < _DAY:
        return _two(whole, _HOUR, "h", _MINUTE, "min")
    return _two(whole, _DAY, "d", _HOUR, "h")


def _two(whole: int, unit: int, name: str, smaller: int, smaller_name: str) -> str:
    rest = whole % unit // smaller
    return f"{whole // unit} {name}" + (f" {rest} {smaller_name}" if rest else "")


def show_money(dollars: Decimal | None) -> str:
    """In cents, or in as much as shows that it is not nothing."""
    if dollars is None:
        return "–"
    cent = Decimal("0.01")
    return f"${dollars:,.2f}" if dollars == 0 or dollars >= cent else f"${dollars:.4f}"


def show_days(days: PartitionSet) -> str:
    """All ranges where they are few, otherwise the first ones and how far the others go."""
    if len(days.ranges) <= _RANGES_SHOWN + 1:
        return str(days)
    shown = ", ".join(str(part) for part in days.ranges[:_RANGES_SHOWN])
    return f"{shown} and {len(days.ranges) - _RANGES_SHOWN} more ranges, until {days.span.last}"


def show_count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def show_instant(at: datetime | None) -> str:
    return "–" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"


def short(digest: str | None) -> str:
    return digest[:12] if digest else "–"
