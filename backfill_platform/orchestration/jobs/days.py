"""Days as somebody writes them into a launchpad; nothing means all of the run."""

from backfill_platform.domain.day_notation import parse_days
from backfill_platform.domain.errors import PlanRefused
from backfill_platform.domain.partitions import PartitionSet

DAYS = "2025-01-01..2025-01-31, 2025-03-01; all of the run when nothing is said."


def parse_asked(text: str) -> PartitionSet | None:
    try:
        return parse_days(text) if text.strip() else None
    except ValueError as wrong:
        raise PlanRefused((f"`days`: {wrong}",)) from wrong
