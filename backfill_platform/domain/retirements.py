"""What may go from a table's folder and has gone: retention as the policy lays it down, and what is
recorded when files are retired.

A retirement is intended in the ledger before anything is deleted, and told as a fact afterwards.
Which files may go is decided in `planner.retirement`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long files stay that nobody sees; where nothing is said, they stay for ever."""

    abandoned_after_days: int  # what was staged and never published, once its run has ended
    superseded_after_days: int  # what was replaced; the table's rollback window if that is longer
    kept_tables: tuple[str, ...] = ()  # of which nothing is retired, whatever its age


class RetirementReason(StrEnum):
    """Why files go."""

    ABANDONED = "ABANDONED"  # staged by a run that was rejected, cancelled or not finished
    CANDIDATE = "CANDIDATE"  # computed by a dry run, a reconciliation or a dark run
    UNPUBLISHED = "UNPUBLISHED"  # of a published run: equal to what was seen, or staged again
    SUPERSEDED = "SUPERSEDED"  # readers saw it once, and the time in which it may return is over

    @property
    def meaning(self) -> str:
        match self:
            case RetirementReason.ABANDONED:
                return "run ended unpublished"
            case RetirementReason.CANDIDATE:
                return "only to be looked at"
            case RetirementReason.UNPUBLISHED:
                return "staged and not needed"
            case RetirementReason.SUPERSEDED:
                return "replaced or rolled back"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """`path` is relative to the table's root."""

    path: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLog:
    """What a target's log says of files, at one version."""

    version: int
    active: frozenset[str]
    removed_at: Mapping[str, datetime]  # the last time, of files that are not active
    is_whole: bool  # it reaches back to the table's first version
    rollback_window: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class RetiredPart:
    """Files of one run that go for one reason."""

    run_id: RunId | None  # nothing where no run wrote them: a compaction, somebody's append
    reason: RetirementReason
    files: tuple[FoundFile, ...]
    possible_until: datetime | None  # the last of them could return until then; never seen if none

    @property
    def bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetirementIntent:
    """Written before the first file goes: what, by which policy, who."""

    table: str
    actor: str
    retention: Retention
    policy_digest: str
    target_version: int  # at which none of the files was referenced
    parts: tuple[RetiredPart, ...]
    # Unfinished runs that cannot be taken up again from here on, and where they stood.
    ends: Mapping[RunId, RunState]

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(file.path for part in self.parts for file in part.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetirementRecord:
    retirement_id: str
    intent: RetirementIntent
    intended_at: datetime
    finished_at: datetime | None  # nothing while files may still be going
    spared: tuple[str, ...] = ()  # stayed after all: something had changed before they went

    @property
    def retired(self) -> frozenset[str]:
        """What has gone, or may be going at this moment."""
        return self.intent.paths - frozenset(self.spared)
