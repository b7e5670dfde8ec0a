"""What consumers of a table saw at an instant, told twice: by the ledger and by the Delta log.

The ledger knows when each run was accepted and superseded; the log knows which files the table held
and when. Neither is derived from the other, so where they agree nobody has to be believed. No JVM.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path

from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.publications import fingerprint
from backfill_platform.domain.runs import AcceptedPartition
from backfill_platform.engine.rollback.facts import known_rollbacks, returned_versions
from backfill_platform.engine.rollback.returned_rows import UNMEASURED
from backfill_platform.lakehouse.delta_files import TableState
from backfill_platform.lakehouse.former_files import former_state
from backfill_platform.lakehouse.moments import Moment, version_at
from backfill_platform.lakehouse.paths import RUNS, Warehouse
from backfill_platform.lakehouse.rearrangements import files_when_landed
from backfill_platform.ledger.store import Ledger
from backfill_platform.planner.owed import History, Returned, entry_at, shown_entry

NO_RUN = "no run"  # files that lie in no run's folder


class Agreement(StrEnum):
    AGREED = "AGREED"  # both name the same publication, with the same rows
    RECORDED_LATER = "RECORDED_LATER"  # it had landed, and the ledger was told after that instant
    DISAGREED = "DISAGREED"  # the table held something that the ledger does not explain
    LOG_GONE = "LOG_GONE"  # the log no longer reaches back so far; only the ledger answers

    @property
    def is_whole(self) -> bool:
        return self in (Agreement.AGREED, Agreement.RECORDED_LATER)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenDay:
    day: date
    accepted: AcceptedPartition | None  # as the ledger says, at that instant
    rows: int | None  # as the log says; nothing where it is gone
    files_of: tuple[str, ...]  # in whose folders the files lay: runs, or NO_RUN
    agreement: Agreement
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    table: str
    at: datetime
    version: int | None  # of the table
    days: tuple[SeenDay, ...]

    @property
    def is_agreed(self) -> bool:
        return all(one.agreement.is_whole for one in self.days)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Logged:
    """What the log can be asked about one version of one table."""

    state: TableState
    unmoved: frozenset[date]  # hold the rows that had landed, at most in compacted files

    def paths(self, day: date) -> list[str]:
        return [file.path for file in self.state.files.get(day, ())]

    def rows(self, day: date) -> int:
        return sum(file.row_count for file in self.state.files.get(day, ()))


def seen_at(
    ledger: Ledger, warehouse: Warehouse, table: str, at: datetime, *, day: date | None = None
) -> Seen:
    """Of every day that either of them knows of, or of one."""
    path = warehouse.table_path(table)
    moment = version_at(path, at)
    histories = _histories(ledger, table, day)
    logged = _read(path, moment, day, histories)
    returned = returned_versions(known_rollbacks(ledger, table))
    known = {*histories, *(logged.state.files if logged else ())} if day is None else {day}
    found = (_judge(one, histories.get(one, ()), returned, at, logged, moment) for one in known)
    held = (one for one in found if one.accepted or one.rows or not one.agreement.is_whole)
    return Seen(
        table=table,
        at=at,
        version=moment.version,
        days=tuple(sorted(held, key=lambda one: one.day)),
    )


def _histories(ledger: Ledger, table: str, day: date | None) -> Mapping[date, History]:
    return ledger.table_history(table) if day is None else ledger.accepted_histories(table, (day,))


def _read(
    path: Path, moment: Moment, day: date | None, histories: Mapping[date, History]
) -> _Logged | None:
    if moment.version is None:
        return None
    days = None if day is None else PartitionSet.of_days([day])
    state = former_state(path, moment.version, days)
    if state is None:
        return None
    landed = {
        day: entry.target_version
        for day, files in state.files.items()
        if any(_owner(file.path) == NO_RUN for file in files)
        and (entry := entry_at(histories.get(day, ()), state.version))
    }
    return _Logged(state=state, unmoved=frozenset(files_when_landed(path, state, landed)))


def _judge(
    day: date,
    history: History,
    returned: Returned,
    at: datetime,
    logged: _Logged | None,
    moment: Moment,
) -> SeenDay:
    told = _accepted_at(history, at)
    if logged is None and not (moment.is_known and moment.version is None):
        return _seen(day, told, None, Agreement.LOG_GONE, "the log no longer reaches back so far")
    landed = entry_at(history, moment.version) if moment.version is not None else None
    why = _contradiction(day, landed, history, returned, logged)
    if why:
        return _seen(day, told, logged, Agreement.DISAGREED, why)
    return _seen(day, told, logged, *_compare_times(told, landed, at))


def _accepted_at(history: History, at: datetime) -> AcceptedPartition | None:
    current = [
        entry
        for entry in history
        if entry.accepted_at <= at and (entry.superseded_at is None or at < entry.superseded_at)
    ]
    return current[-1] if current else None


def _contradiction(
    day: date,
    landed: AcceptedPartition | None,
    history: History,
    returned: Returned,
    logged: _Logged | None,
) -> str:
    """Why the files of that version are not those of the publication that had landed by then."""
    rows = logged.rows(day) if logged else 0
    paths = logged.paths(day) if logged else []
    if landed is None:
        return f"the table held rows that no run had published ({rows:,})" if paths else ""
    if rows != landed.row_count:
        return f"{landed.run_id} published {landed.row_count:,} rows, and the table held {rows:,}"
    shown = shown_entry(history, returned, version=landed.target_version)
    if _is_content(landed, shown, paths) or (logged and day in logged.unmoved):
        return ""
    owner = shown.run_id if shown else NO_RUN
    return f"the files should be those of {owner}, and were of {' and '.join(_owners(paths))}"


def _is_content(
    landed: AcceptedPartition, shown: AcceptedPartition | None, paths: list[str]
) -> bool:
    """A rollback may have returned what no run had written; then its checksum names the files."""
    if landed.checksum.startswith(UNMEASURED):
        return landed.checksum == UNMEASURED + fingerprint(paths)
    own = f"{RUNS}/{shown.run_id}/" if shown else ""
    return all(path.startswith(own) for path in paths)


def _compare_times(
    told: AcceptedPartition | None, landed: AcceptedPartition | None, at: datetime
) -> tuple[Agreement, str]:
    if told == landed:
        return Agreement.AGREED, ""
    if landed is not None and landed.accepted_at > at:
        recorded = f"{landed.accepted_at:%Y-%m-%d %H:%M:%S} UTC"
        return Agreement.RECORDED_LATER, f"{landed.run_id} was recorded at {recorded}"
    return Agreement.DISAGREED, "the ledger names a publication that had not landed by then"


def _seen(
    day: date,
    told: AcceptedPartition | None,
    logged: _Logged | None,
    agreement: Agreement,
    why: str,
) -> SeenDay:
    is_gone = agreement is Agreement.LOG_GONE
    return SeenDay(
        day=day,
        accepted=told,
        rows=None if is_gone else logged.rows(day) if logged else 0,
        files_of=_owners(logged.paths(day)) if logged else (),
        agreement=agreement,
        why=why,
    )


def _owners(paths: list[str]) -> tuple[str, ...]:
    return tuple(sorted({_owner(path) for path in paths}))


def _owner(path: str) -> str:
    first, _, rest = path.partition("/")
    return rest.partition("/")[0] if first == RUNS else NO_RUN
