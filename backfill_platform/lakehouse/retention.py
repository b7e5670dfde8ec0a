"""How long a Delta table keeps what it has replaced, and so how long a rollback stays possible."""

import re
from collections.abc import Mapping

SETTING = "delta.deletedFileRetentionDuration"
_DEFAULT_HOURS = 7 * 24  # Delta's own, where a table says nothing
_HOURS = {"hour": 1, "day": 24, "week": 7 * 24}
_INTERVAL = re.compile(r"interval\s+(\d+)\s+(hour|day|week)s?", re.IGNORECASE)


def rollback_hours(configuration: Mapping[str, str]) -> int:
    """Whole hours; an interval in other units is read as Delta's default, which is the shorter."""
    found = _INTERVAL.fullmatch(configuration.get(SETTING, "").strip())
    return int(found[1]) * _HOURS[found[2].lower()] if found else _DEFAULT_HOURS
