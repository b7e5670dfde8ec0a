"""What the planner is told about the world; `engine` gathers it, the planner only reasons."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from backfill_platform.domain.partitions import PartitionSet


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFacts:
    """One input as it is now."""

    snapshot: str
    days_present: PartitionSet | None  # nothing when it holds no data in the asked range
    files: Mapping[date, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetFacts:
    version: int | None
    fingerprints: Mapping[date, str]  # of the partitions that hold files


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    now: datetime
    inputs: Mapping[str, InputFacts]
    reference_digests: Mapping[str, str]  # by reference name, of the chosen version
    target: TargetFacts
    code_digest: str
    config_hash: str
    git_commit: str | None
