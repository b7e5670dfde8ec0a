"""What alerts are decided on: how runs and tables stand, as values and in few of them.

All of it is read from the ledger; nothing here says whether somebody has to hear of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.partitions import PartitionSet


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingRun:
    """A run, and since when and why it stands where it stands."""

    run_id: RunId
    table: str
    state: RunState
    actor: str
    reason: str
    days: PartitionSet | None
    entered_at: datetime
    cause: str
    never_publishes: bool  # whatever comes out of it


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedKeys:
    """Days of a run whose staged rows repeat their key."""

    run_id: RunId
    table: str
    days: int
    first: date
    last: date
    message: str  # of the first day's verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingRun:
    """A run that goes on only when somebody has said something."""

    run: StandingRun
    since: datetime
    roles: tuple[str, ...] = ()  # whose consent is asked for and missing
    held: int = 0  # verdicts that an owner has to review


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedGap:
    """A gap that may not be repaired unattended, and why."""

    key: str
    table: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestDay:
    """The last day that consumers see of a table that promises to be fresh."""

    table: str
    day: date
    accepted_at: datetime
    fresh_within_hours: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfDone:
    """What a process left behind and should have been finished by now."""

    run_id: RunId
    table: str
    what: str
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertFacts:
    failed: tuple[StandingRun, ...] = ()  # and not published by anybody else since
    repeated: tuple[RepeatedKeys, ...] = ()
    waiting: tuple[WaitingRun, ...] = ()
    gaps: tuple[ReportedGap, ...] = ()
    newest: tuple[NewestDay, ...] = ()
    half_done: tuple[HalfDone, ...] = ()
    # Of the runs that open alerts are about.
    states: Mapping[RunId, RunState] = field(default_factory=dict[RunId, RunState])
