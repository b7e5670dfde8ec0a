"""What may be repaired while nobody looks, as the policy lays it down, and what was tried before.

These values only hold it. Which gap is repaired, and which has to wait, `planner.repairs` decides.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from backfill_platform.domain.gaps import GapKind
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import NOT_BEGUN, RunState
from backfill_platform.domain.limits import DailyWindow
from backfill_platform.domain.partitions import PartitionSet

_PREFIX = "repair:"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairRules:
    requested_by: str  # the name that stands in the manifest; it approves nothing
    tables: tuple[str, ...]  # names, or patterns with * and ?
    kinds: tuple[GapKind, ...]
    max_days_per_run: int
    attempts: int  # for one gap, as long as it lasts
    back_off_minutes: int  # after the first attempt; twice as long after each other one
    runs_per_hour: int
    rows_per_day: int | None = None  # of input, as estimated when planned
    cost_usd_per_day: Decimal | None = None  # expected
    quiet_hours: DailyWindow | None = None  # in which nothing is planned
    patience_minutes: int = 0  # for so long after it was first seen, somebody may see to a gap
    settle_hours: int = 0  # a day is left to its own run for so long after it has ended


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairRun:
    """An unattended repair that was planned for a gap."""

    run_id: RunId
    gap_key: str
    attempt: int
    table: str
    state: RunState
    days: PartitionSet | None
    planned_at: datetime
    updated_at: datetime
    valid_until: datetime | None

    def has_expired(self, now: datetime) -> bool:
        """Nobody began it in time; whoever wants its days next moves its state."""
        is_over = self.valid_until is not None and self.valid_until <= now
        return is_over and self.state in NOT_BEGUN


def repair_group(gap_key: str) -> str:
    """All attempts for one gap are a group, by which they are found again."""
    return f"{_PREFIX}{gap_key}"


def repair_origin(gap_key: str, attempt: int) -> str:
    return f"{repair_group(gap_key)}:{attempt}"


def is_repair_origin(origin: str) -> bool:
    return origin.startswith(_PREFIX)


def read_repair_origin(origin: str) -> tuple[str, int]:
    """The gap's key and the number of the attempt."""
    key, _, attempt = origin.removeprefix(_PREFIX).rpartition(":")
    return key, int(attempt)
