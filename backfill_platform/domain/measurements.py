"""Numbers taken from data, one record per partition; what gates judge and evidence keeps."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionMeasurement:
    """What one pass over the staged rows of one partition found."""

    day: date
    row_count: int
    checksum: str  # order-independent, over the business columns only
    duplicate_keys: int
    null_counts: Mapping[str, int]  # by column that may not be null
    check_failures: Mapping[str, int]  # rows that fail, by name of the check
    measures: Mapping[str, int]  # declared reconciliation measures, from the output


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMeasurement:
    """The declared reconciliation measures of one day, reckoned from the inputs."""

    day: date
    measures: Mapping[str, int]
