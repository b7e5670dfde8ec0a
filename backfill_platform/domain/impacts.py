"""Which tables and partitions follow when a run is published."""

from dataclasses import dataclass

from backfill_platform.domain.partitions import PartitionSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    table: str
    days: PartitionSet  # those whose inputs include a partition that changes
    owner: str
    through: str  # the table by which the change reaches this one
