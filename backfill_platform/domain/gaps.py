"""Gaps: what a table lacks, or holds and nobody explains, as values.

A gap has a key that stays the same while it lasts, so that what was tried for it can be counted,
and a digest of what it says, so that a change of it can be told. How gaps are found is
`planner.gaps`; whether one may be repaired unattended is `planner.repairs`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from backfill_platform.domain.canonical import canonical_json
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.plain import to_plain


class GapKind(StrEnum):
    """What is wrong, the plainest first."""

    MISSING_PARTITION = "MISSING_PARTITION"  # a day is due, and the table holds later ones
    INPUT_AHEAD = "INPUT_AHEAD"  # the inputs hold days after the table's last one
    RUN_ENDED = "RUN_ENDED"  # a run failed or expired, and nothing was accepted since
    INPUT_MISSING = "INPUT_MISSING"  # a hole in a source: there is nothing to compute from
    TOO_FEW_ROWS = "TOO_FEW_ROWS"  # fewer than the table declares, against the days before
    LATE_DATA = "LATE_DATA"  # inputs hold rows that were not there when the day was computed
    UNEXPLAINED_COMMIT = "UNEXPLAINED_COMMIT"  # somebody else changed rows of the table


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    table: str
    kind: GapKind
    subject: str  # what the key is made of: stays as long as the gap does
    days: PartitionSet | None  # nothing where the log does not name them
    message: str
    fills: bool = False  # the days hold nothing, so a repair replaces nothing
    first_load: bool = False  # before anything that was ever published
    since: datetime | None = None  # when the run ended

    @property
    def key(self) -> str:
        return f"{self.table}:{self.subject}"

    @property
    def digest(self) -> str:
        return hashlib.sha256(canonical_json(to_plain(self)).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedGap:
    """What the ledger remembers of a gap, from when it was first seen until it is gone."""

    key: str
    table: str
    kind: GapKind
    days: PartitionSet | None
    digest: str
    message: str
    first_seen_at: datetime
    last_seen_at: datetime
    resolved_at: datetime | None
    reported_at: datetime | None  # that nobody repairs it unattended
    reported_digest: str | None  # of the gap and the answer that were reported
    reported_why: str | None
    refused_at: datetime | None  # when its repair could last not be planned


@dataclass(frozen=True, slots=True, kw_only=True)
class LastChange:
    """What was recorded of a table since some instant: two looks that are told the same have
    missed nothing in between."""

    facts: int
    newest_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedChanges:
    """What a look at the tables has changed of that."""

    new: tuple[str, ...] = ()  # keys
    changed: tuple[str, ...] = ()
    resolved: tuple[str, ...] = ()


NO_CHANGES = NotedChanges()


@dataclass(frozen=True, slots=True, kw_only=True)
class GapReport:
    """Why nobody repairs a gap unattended."""

    key: str
    digest: str
    why: str
    was_refused: bool = False  # its repair was tried to be planned just now


def report_digest(gap: Gap, why: str) -> str:
    """A table that nobody loads gets a day more each day, and that is nothing new."""
    said = gap.key if gap.first_load else gap.digest
    return hashlib.sha256(f"{said}\n{why}".encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedDay:
    """What of an accepted partition tells whether something is wrong with it."""

    run_id: RunId
    row_count: int
    target_version: int
    accepted_at: datetime


AcceptedDays = Mapping[date, AcceptedDay]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedRun:
    """A run that would have published and has not; no repair that nobody asked for."""

    run_id: RunId
    state: RunState
    days: PartitionSet
    ended_at: datetime
