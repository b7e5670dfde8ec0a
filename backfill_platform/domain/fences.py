"""A fence: which run may change which partitions of a table, until when, under which token."""

from dataclasses import dataclass
from datetime import datetime

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.partitions import PartitionSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    table: str
    token: int  # grows within the table; over the same partitions the highest one counts
    run_id: RunId
    days: PartitionSet
    acquired_at: datetime
    expires_at: datetime  # renewed while its run publishes
    released_at: datetime | None

    def is_open(self, now: datetime) -> bool:
        return self.released_at is None and now < self.expires_at
