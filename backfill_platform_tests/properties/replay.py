"""Judges a race by the log, the data files and the ledger: every version explained, no row lost,
none doubled, and the ledger tells the same story.

It keeps its own account of which rows each partition must hold, moves it forward version by
version, reading every file that a commit adds, and compares it with what readers get. Where it
needs a run's word it takes the manifest, never what a process said of itself.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date

import pyarrow.parquet as pq
from deltalake import DeltaTable

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import RunKind
from backfill_platform.domain.runs import PublicationFact, PublicationRecord
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.delta_log import Commit, read_commit
from backfill_platform.planner.rollback import former_versions
from backfill_platform_tests.delta_reader import read_table

COMPACTOR = "compactor"
ROWS_A_DAY = 3

Rows = Counter[str]


def row_names(run: str) -> tuple[str, ...]:
    """What a run of that origin writes into each of its days."""
    return tuple(f"{run}/{number}" for number in range(ROWS_A_DAY))


class Replay:
    def __init__(self, platform: Platform, table: str, days: Iterable[date]) -> None:
        self.platform = platform
        self.table = table
        self.target = platform.warehouse.table_path(table)
        self.days = tuple(days)
        self.version = -1
        self.files: dict[date, dict[str, Rows]] = {day: {} for day in self.days}
        self.rows: list[dict[date, Rows]] = []  # by version
        self.published: dict[date, list[int]] = {day: [] for day in self.days}  # versions of runs
        self.landed: dict[str, int] = {}  # by publication
        self.foreign: set[str] = set()  # rows of the foreign writer
        self.check_round(set())

    def check_round(self, appended: set[str]) -> None:
        """`appended` are the foreign rows that were reported as written since the last look."""
        before = set(self.foreign)
        for version in range(self.version + 1, DeltaTable(self.target).version() + 1):
            commit = read_commit(self.target, version)
            assert commit is not None
            self._advance(commit)
            self.version = version
            self.rows.append({day: _sum(held) for day, held in self.files.items()})
        assert self.foreign - before == appended, "an append was lost, or landed unreported"
        self._check_readers()
        self._check_ledger()

    def _advance(self, commit: Commit) -> None:
        said = commit.user_metadata or ""
        if said.startswith("{"):
            self._publish(commit, json.loads(said))
        elif said == COMPACTOR:
            self._compact(commit)
        elif said:
            self._append(commit, said)
        else:
            assert not commit.added, f"nobody explains version {commit.version}: {commit}"
            assert not commit.removed

    def _publish(self, commit: Commit, said: Mapping[str, str]) -> None:
        """It removed all that its days held, which were the rows that its manifest was planned on,
        and added what the run had staged, or what a rollback returns."""
        manifest = load_manifest(self.platform, RunId(said["run_id"]))
        named = self._record(manifest, said["publication_id"]).intent.days
        held = {path for day in named for path in self.files[day]}
        assert commit.removed.keys() == held, f"version {commit.version} left something behind"
        for day in named:
            assert self._rows_now(day) == self._base(manifest, day), f"nobody reviewed this {day}"
            self.files[day] = {}
            self.published[day].append(commit.version)
        self._add(commit)
        for day in named:
            assert self._rows_now(day) == self._promised(manifest, day)
        self.landed[said["publication_id"]] = commit.version

    def _compact(self, commit: Commit) -> None:
        before = {day: self._rows_now(day) for day in self.days}
        for path, day in commit.removed.items():
            del self.files[_known(day)][path]
        self._add(commit)
        assert {day: self._rows_now(day) for day in self.days} == before, "it changed rows"

    def _append(self, commit: Commit, name: str) -> None:
        assert not commit.removed
        assert name not in self.foreign, f"{name} was written twice"
        self._add(commit)
        (added,) = commit.added.items()
        assert self.files[_known(added[1])][added[0]] == Counter([name])
        self.foreign.add(name)

    def _add(self, commit: Commit) -> None:
        for path, day in commit.added.items():
            assert path not in self.files[_known(day)], f"{path} was there already"
            names = pq.ParquetFile(self.target / path).read(columns=["meter"])
            self.files[_known(day)][path] = Counter(names.column(0).to_pylist())

    def _rows_now(self, day: date) -> Rows:
        return _sum(self.files[day])

    def _base(self, manifest: Manifest, day: date) -> Rows:
        version = manifest.target.base_version
        return self.rows[version][day] if version is not None else Counter()

    def _promised(self, manifest: Manifest, day: date) -> Rows:
        if manifest.kind is RunKind.ROLLBACK:
            return self.rows[former_versions(manifest)[day]][day]
        return Counter(row_names(self.platform.ledger.run(manifest.run_id).origin))

    def _record(self, manifest: Manifest, publication_id: str) -> PublicationRecord:
        known = self.platform.ledger.publications(manifest.run_id)
        return next(one for one in known if one.intent.publication_id == publication_id)

    def _check_readers(self) -> None:
        expected = Counter(
            (day, name) for day in self.days for name in self._rows_now(day).elements()
        )
        found = DeltaTable(self.target).to_pyarrow_table(columns=["day", "meter"]).to_pylist()
        for rows in (found, read_table(self.target)):
            seen = Counter((row["day"], row["meter"]) for row in rows)
            assert seen == expected, "readers see other rows than the log explains"

    def _check_ledger(self) -> None:
        """Every publication that landed is a fact of that version, and no other is; the history of
        each day is that of the versions which changed it, with their rows."""
        facts: dict[str, int | None] = {}
        for run in self.platform.ledger.runs(self.table, limit=1_000_000):
            for one in self.platform.ledger.publications(run.run_id):
                if one.outcome is PublicationFact.LANDED:
                    facts[one.intent.publication_id] = one.version
        assert facts == self.landed
        for day, history in self.platform.ledger.table_history(self.table).items():
            assert [one.target_version for one in history] == self.published[day]
            rows = [self.rows[one.target_version][day].total() for one in history]
            assert [one.row_count for one in history] == rows
            assert [one.superseded_at is None for one in history][-1:] == [True]


def _sum(held: Mapping[str, Rows]) -> Rows:
    total: Rows = Counter()
    for rows in held.values():
        total.update(rows)
    return total


def _known(day: date | None) -> date:
    assert day is not None
    return day
