"""What somebody wants to be undone, and what the ledger and the target's log know about it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from backfill_platform.domain.contracts import Column
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.privacy import PinnedDeletions
from backfill_platform.domain.runs import AcceptedPartition, RunInFlight
from backfill_platform.planner.facts import TargetFacts
from backfill_platform.planner.owed import History, Returned, owed_entry


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackRequest:
    run_id: RunId  # to be undone
    days: PartitionSet | None  # nothing means all that the run changed
    reason: str
    requested_by: str
    ticket: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormerDay:
    """What a day held just before the run landed."""

    version: int  # of the target
    rows: int | None  # nothing when that version can no longer be read
    missing: tuple[str, ...]  # files of it that are no longer there
    replaced_at: datetime
    stays: bool = False  # in the table, behind the version of the output that is taken away
    owners: frozenset[RunId | None] = frozenset()  # who staged its files; nothing: no run did


@dataclass(frozen=True, slots=True, kw_only=True)
class FormerSchema:
    """The target's columns; and what it held as a whole, where the run took something from them."""

    now: tuple[Column, ...]
    columns_of: Mapping[date, tuple[Column, ...]]  # just before the run landed on that day
    before: tuple[Column, ...] | None = None  # the first time that it landed
    left: tuple[Column, ...] | None = None  # by that commit
    held_now: Mapping[date, str] = field(default_factory=dict[date, str])
    held_before: Mapping[date, str] = field(default_factory=dict[date, str])
    returning: Mapping[date, str] = field(default_factory=dict[date, str])  # what days would hold


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackFacts:
    now: datetime
    undone: Manifest
    state: RunState  # of the run to be undone
    histories: Mapping[date, History]  # of the days that it changed
    returned: Returned
    own_rollbacks: frozenset[RunId]  # those that undo this very run
    target: TargetFacts
    left: Mapping[date, str]  # fingerprints of what it left, where that can still be read
    before: Mapping[date, FormerDay]  # of the days that are still owed to it
    in_flight: tuple[RunInFlight, ...]
    # Of the missing files, those that retention has removed: how that is said.
    retired: Mapping[str, str] = field(default_factory=dict[str, str])
    deletions: PinnedDeletions | None = None  # the table's list, as it is now
    masks: tuple[str, ...] = ()  # the columns that are masked now
    schema: FormerSchema | None = None  # nothing where there is no table any more
    config_hash: str = ""  # as it is now; masks are part of it
    owners: Mapping[RunId, Manifest] = field(default_factory=dict[RunId, Manifest])

    def owed(self, day: date) -> AcceptedPartition | None:
        """By which publication the day is still owed to the run, if it is."""
        history = self.histories.get(day, ())
        return owed_entry(history, self.undone.run_id, self.returned)

    def returning(self, days: Iterable[date]) -> tuple[date, ...]:
        """Days of which files return that were taken out of the table."""
        return tuple(day for day in days if not self.before[day].stays)

    def possible_until(self, days: Iterable[date]) -> datetime:
        """For so long the first of the replaced files is sure to stay."""
        first = min(self.before[day].replaced_at for day in days)
        return first + timedelta(hours=self.target.rollback_hours or 0)
