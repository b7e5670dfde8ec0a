"""Judges a race by the log alone: every version explained, no row lost, none doubled.

It keeps its own account of what each day must hold, moves it forward version by version, and then
compares it with the rows that a reader gets.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from enum import Enum, auto

from backfill_platform.domain.publications import (
    AlreadyPublished,
    Publication,
    Published,
    fingerprint,
)
from backfill_platform.lakehouse.delta_log import Commit, read_commit
from backfill_platform_tests.publisher.tables import Lake, read_rows, rows_of


class Refused(Enum):
    TARGET_MOVED = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one writer says it did; an append has no publication and no outcome."""

    name: str  # under which its rows are known
    day: date
    publication: Publication | None
    outcome: Published | AlreadyPublished | Refused | None


class Replay:
    def __init__(self, lake: Lake, days: Iterable[date], *, rows_per_day: int) -> None:
        self.lake = lake
        self.rows_per_day = rows_per_day
        self.version = lake.version()
        self.held: dict[date, dict[str, str]] = {day: {} for day in days}  # path: whose rows

    def check_round(self, reports: list[Report]) -> None:
        landed = {
            report.outcome.version: report
            for report in reports
            if isinstance(report.outcome, Published)
        }
        appended = {report.name: report for report in reports if report.outcome is None}
        for version in range(self.version + 1, self.lake.version() + 1):
            commit = read_commit(self.lake.target, version)
            assert commit is not None
            self._advance(commit, landed.pop(version, None), appended)
        assert not landed, f"reported versions that are not in the log: {sorted(landed)}"
        assert not appended, f"reported appends that are not in the log: {sorted(appended)}"
        self.version = self.lake.version()
        self._check_rows()

    def _advance(self, commit: Commit, landed: Report | None, appended: dict[str, Report]) -> None:
        if landed is not None:
            self._publish(commit, landed)
            return
        report = appended.pop(commit.user_metadata or "", None)
        assert report is not None, f"nobody explains version {commit.version}: {commit}"
        assert not commit.removed
        self.held[report.day] |= dict.fromkeys(commit.added, report.name)

    def _publish(self, commit: Commit, report: Report) -> None:
        publication, held = report.publication, self.held[report.day]
        assert publication is not None
        assert publication.publication_id in (commit.user_metadata or "")
        assert fingerprint(held) == publication.base[report.day], "nobody reviewed this base"
        assert commit.removed.keys() == held.keys()
        assert set(commit.added.values()) == {report.day}
        self.held[report.day] = dict.fromkeys(commit.added, report.name)

    def _check_rows(self) -> None:
        expected = Counter(
            row
            for day, held in self.held.items()
            for name in set(held.values())
            for row in rows_of(name, [day], per_day=self.rows_per_day)
        )
        assert Counter(read_rows(self.lake.target)) == expected
