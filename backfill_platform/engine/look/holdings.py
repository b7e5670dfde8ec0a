"""Whether a table still holds what a run's publication made visible there. No JVM, no catalog.

The Delta log is held against the ledger: whose files a partition consists of, and how many rows
they have. A compaction of the same rows is seen through. What the rows say is compared by Spark,
elsewhere.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from pathlib import Path

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.publications import fingerprint
from backfill_platform.domain.runs import AcceptedPartition
from backfill_platform.engine.rollback.returned_rows import UNMEASURED
from backfill_platform.engine.rollback.shown_runs import shown_runs
from backfill_platform.lakehouse.delta_files import TableState
from backfill_platform.lakehouse.delta_tables import read_table_state
from backfill_platform.lakehouse.paths import RUNS, Warehouse
from backfill_platform.lakehouse.rearrangements import files_when_landed
from backfill_platform.ledger.store import Ledger


class Held(StrEnum):
    AS_ACCEPTED = "AS_ACCEPTED"  # the run's files or a compaction of them, with the accepted rows
    OTHER_ROWS = "OTHER_ROWS"  # the run's files, with another number of rows
    OTHER_FILES = "OTHER_FILES"  # somebody else has written into the partition
    GONE = "GONE"  # the partition holds nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """One partition that is owed to the run."""

    day: date
    held: Held
    rows_accepted: int
    rows_found: int
    files_found: int

    @property
    def is_as_accepted(self) -> bool:
        return self.held is Held.AS_ACCEPTED


def check_holdings(
    ledger: Ledger, warehouse: Warehouse, run_id: RunId, table: str, days: PartitionSet
) -> tuple[Holding, ...]:
    """Of every partition that consumers owe to this run now."""
    owed = ledger.accepted(table, days)
    accepted = {day: one for day, one in owed.items() if one.run_id == run_id}
    path = warehouse.table_path(table)
    state = read_table_state(path, days)
    shown = shown_runs(ledger, table, accepted)
    found = [_check(one, shown.get(day), state) for day, one in accepted.items()]
    moved = {one.day: accepted[one.day] for one in found if one.held is Held.OTHER_FILES}
    unmoved = _in_other_files(path, state, moved, shown) if state and moved else frozenset()
    return tuple(
        replace(one, held=Held.AS_ACCEPTED) if one.day in unmoved else one for one in found
    )


def _in_other_files(
    path: Path,
    state: TableState,
    moved: Mapping[date, AcceptedPartition],
    shown: Mapping[date, RunId],
) -> frozenset[date]:
    """Which of them hold the very rows that landed, compacted since; and only where it was the run
    that wrote in the version that the ledger names."""
    landed = {day: one.target_version for day, one in moved.items()}
    former = files_when_landed(path, state, landed)
    return frozenset(
        day for day, files in former.items() if _are_own(moved[day], shown.get(day), files)
    )


def _check(
    accepted: AcceptedPartition, written_by: RunId | None, state: TableState | None
) -> Holding:
    files = state.files.get(accepted.day, ()) if state else ()
    rows = sum(file.row_count for file in files)
    return Holding(
        day=accepted.day,
        held=_judge(accepted, written_by, [file.path for file in files], rows),
        rows_accepted=accepted.row_count,
        rows_found=rows,
        files_found=len(files),
    )


def _judge(
    accepted: AcceptedPartition, written_by: RunId | None, paths: list[str], rows: int
) -> Held:
    if paths and not _are_own(accepted, written_by, paths):
        return Held.OTHER_FILES
    if rows == accepted.row_count:
        return Held.AS_ACCEPTED
    return Held.OTHER_ROWS if paths else Held.GONE


def _are_own(accepted: AcceptedPartition, written_by: RunId | None, paths: Collection[str]) -> bool:
    """What no run wrote, and a rollback returned, is named by its files, or has none."""
    if accepted.checksum.startswith(UNMEASURED):
        return accepted.checksum == UNMEASURED + fingerprint(paths)
    return written_by is not None and all(
        path.startswith(f"{RUNS}/{written_by}/") for path in paths
    )
