"""What is known of earlier repairs, and what may be decided about a gap, as values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from backfill_platform.domain.gaps import Gap, NotedGap
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.repairs import RepairRun
from backfill_platform.domain.runs import RunInFlight


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairHistory:
    now: datetime
    tried: Mapping[str, tuple[RepairRun, ...]]  # by key of the gap, the first attempt first
    noted: Mapping[str, NotedGap]  # by key, of those that last
    in_flight: Mapping[str, tuple[RunInFlight, ...]]  # by table
    planned_at: tuple[datetime, ...]  # unattended repairs of the last hour


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A run is planned for it now."""

    gap: Gap
    days: PartitionSet
    attempt: int  # stands in the origin, and so is never used twice
    replaces: RunId | None  # the failed attempt before


@dataclass(frozen=True, slots=True, kw_only=True)
class Postponed:
    """Nothing is wrong with repairing it, only not now."""

    gap: Gap
    why: str
    until: datetime | None  # nothing where no time decides


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """Nobody repairs it unattended."""

    gap: Gap
    why: str


Decision = Repair | Postponed | Reported
