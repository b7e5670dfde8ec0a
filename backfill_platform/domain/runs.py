"""What the ledger remembers of runs, their events and what is accepted, as values.

Chunks have their own file. Outcomes that a caller branches on (moved or lost) are values here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from backfill_platform.domain.approvals import Approval
from backfill_platform.domain.identity import GroupId, RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.modes import ExecutionMode, RunKind
from backfill_platform.domain.partitions import PartitionSet


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """A planned run, as it enters the ledger."""

    run_id: RunId
    group_id: GroupId
    origin: str  # what launched it; whoever comes with the same origin joins the same run
    table: str
    kind: RunKind
    mode: ExecutionMode
    transform_version: str
    manifest_json: str
    manifest_digest: str
    actor: str
    reason: str
    days: PartitionSet  # what it may publish; held until it is published or stopped
    valid_until: datetime  # whoever has not begun by then has to plan again
    replaces: RunId | None  # an unfinished run that ends when this one is registered
    cost_usd: Decimal = Decimal(0)  # as its plan expects it


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    run_id: RunId
    group_id: GroupId
    origin: str
    table: str
    kind: RunKind
    mode: ExecutionMode
    transform_version: str
    state: RunState
    manifest_json: str
    manifest_digest: str
    actor: str
    reason: str
    planned_at: datetime
    updated_at: datetime
    superseded_by_run_id: RunId | None
    days: PartitionSet | None  # nothing where an early version planned it and its days are unknown
    valid_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInFlight:
    """A run of the same table that may still publish, and so holds its partitions."""

    run_id: RunId
    state: RunState
    days: PartitionSet
    requested_by: str
    is_live: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """One step in a run's life; `hash` covers everything else and the event before it.

    An approval is an event too, and one that leaves the state as it was.
    """

    run_id: RunId
    seq: int  # from 1
    actor: str
    at: datetime
    cause: str
    from_state: RunState | None  # nothing, for the first event
    to_state: RunState
    details: Mapping[str, Any]
    previous_hash: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    run: RunRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class LostRaceValue:
    """Another writer moved the run first; it stands as `run` says, and nothing was changed."""

    run: RunRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The decision is in the ledger; a rejection has ended the run."""

    approval_id: str
    approval: Approval
    run: RunRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class AlreadyRecorded:
    """The principal has decided so before; `approval` is that one, and nothing was written."""

    approval_id: str
    approval: Approval
    run: RunRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedRows:
    """What a publication made visible in one partition."""

    day: date
    row_count: int
    checksum: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedPartition:
    """Which run a partition is owed to, now or (when superseded) for some time."""

    table: str
    day: date
    run_id: RunId
    row_count: int
    checksum: str
    target_version: int
    publication_id: str
    accepted_at: datetime
    superseded_at: datetime | None
    superseded_by_run_id: RunId | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What became of the partitions that a run changed; each number counts partitions."""

    seen_now: int  # by consumers, from this run
    taken_by: Mapping[RunId, int]  # by the run that was accepted next

    @property
    def changed(self) -> int:
        return self.seen_now + sum(self.taken_by.values())


NO_FATE = Fate(seen_now=0, taken_by={})


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicationIntent:
    """Written before the commit, so that recovery knows what to look for in the target's log."""

    publication_id: str
    run_id: RunId
    table: str
    days: tuple[date, ...]
    base: Mapping[date, str]  # fingerprint of what each partition held when it was reviewed
    files_count: int


class PublicationFact(StrEnum):
    """How an intent to publish ended, as the target's log shows."""

    LANDED = "LANDED"  # consumers see it
    GIVEN_UP = "GIVEN_UP"  # the log does not hold it, and nobody will commit it any more


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicationRecord:
    intent: PublicationIntent
    intent_at: datetime
    fact_at: datetime | None  # nothing while the outcome is unknown
    version: int | None  # of the target, when it landed
    outcome: PublicationFact | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LandedPosition:
    """How far somebody has read in what has landed; the id decides between equal instants."""

    fact_at: datetime
    publication_id: str
