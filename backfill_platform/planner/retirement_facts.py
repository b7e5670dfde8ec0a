"""What is known of a table's files, of the runs that wrote them and of those that need them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.retirements import FoundFile, Retention, TableLog


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """A run of the table that the ledger knows."""

    run_id: RunId
    state: RunState
    is_candidate: bool  # computed to be looked at only: a dry run, a reconciliation, a dark run
    rests_when_judged: bool  # of these, one that nobody has to end: all but the dark one
    ended_at: datetime  # when it came into its state; a retirement's own doing does not count
    busy_until: datetime | None  # a worker of it may still write until then


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFolder:
    """What lies below `runs/<name>`, and below `_beside/<name>`."""

    name: str
    run: RunFacts | None  # nothing where the ledger knows no such run of this table
    data: tuple[FoundFile, ...]
    rest: tuple[FoundFile, ...]  # the staging log, checksums of files, and what is kept beside
    strange: int  # links, and names that no writer of ours gives; they are left alone


@dataclass(frozen=True, slots=True, kw_only=True)
class RetirementFacts:
    now: datetime
    table: str
    retention: Retention
    partition_column: str
    log: TableLog
    recorded_version: int  # the newest of the table that the ledger knows of
    folders: tuple[RunFolder, ...]
    elsewhere: tuple[FoundFile, ...]  # data that lies in no run's folder
    # By unfinished run: the files of every version of this table that its manifest names; nothing
    # where one of them can no longer be read.
    needed: Mapping[RunId, frozenset[str] | None]
    # By run and day of the table: until when readers saw its rows there; nothing while they do.
    shown_until: Mapping[tuple[RunId, date], datetime | None]
    publishing: tuple[RunId, ...]
