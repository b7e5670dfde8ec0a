"""What is known of tables and their inputs when gaps are looked for; `engine` gathers it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from backfill_platform.domain.gaps import AcceptedDays, EndedRun
from backfill_platform.domain.tables import TableSpec

NO_DAYS: frozenset[date] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldInput:
    """A table or source, as far as it feeds others."""

    start: date  # as declared
    days: frozenset[date]  # that hold something
    empty_days: frozenset[date] = NO_DAYS  # accepted without rows: nothing lacks, nothing is there
    retention_days: int | None = None
    is_source: bool = False  # landed by others, so that no run of ours fills a hole in it


@dataclass(frozen=True, slots=True, kw_only=True)
class LooseCommit:
    """A version of a table in which rows moved, and which no publication explains."""

    version: int
    author: str
    days: tuple[date, ...]  # empty where its entry does not name them


@dataclass(frozen=True, slots=True, kw_only=True)
class LateDay:
    """An accepted day whose inputs hold other rows now than it was computed from."""

    computed_from: int
    arrived_since: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFacts:
    spec: TableSpec
    rows: Mapping[date, int]  # by day that holds something, as its log says
    accepted: AcceptedDays
    ended: tuple[EndedRun, ...] = ()  # the newest first
    commits: tuple[LooseCommit, ...] = ()
    late: Mapping[date, LateDay] = field(default_factory=dict[date, LateDay])

    @property
    def known_days(self) -> frozenset[date]:
        """That were ever published, whatever became of them."""
        return frozenset((*self.rows, *self.accepted))

    def is_there(self, day: date) -> bool:
        """A day that was accepted without rows holds no files, and lacks nothing."""
        accepted = self.accepted.get(day)
        return day in self.rows or (accepted is not None and accepted.row_count == 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class GapFacts:
    today: date
    tables: tuple[TableFacts, ...]  # those to look at, inputs first
    inputs: Mapping[str, HeldInput]  # all that these read
