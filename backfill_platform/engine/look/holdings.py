"""Whether a table still holds what a run's publication made visible there. No JVM, no catalog.

The Delta log is held against the ledger: whose files a partition consists of, and how many rows
they have. What the rows say is compared by Spark, elsewhere.
"""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.runs import AcceptedPartition
from backfill_platform.engine.rollback.shown_runs import shown_runs
from backfill_platform.lakehouse.delta_files import TableState
from backfill_platform.lakehouse.delta_tables import read_table_state
from backfill_platform.lakehouse.paths import RUNS, Warehouse
from backfill_platform.ledger.store import Ledger


class Held(StrEnum):
    AS_ACCEPTED = "AS_ACCEPTED"  # exactly files of the run, with the accepted number of rows
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
    accepted = [one for one in ledger.accepted(table, days).values() if one.run_id == run_id]
    state = read_table_state(warehouse.table_path(table), days)
    shown = shown_runs(ledger, table, (one.day for one in accepted))
    return tuple(_check(one, shown.get(one.day), state) for one in accepted)


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
    """What no run wrote, and a rollback returned, can only be told by its number of rows."""
    own = "" if written_by is None else f"{RUNS}/{written_by}/"
    if not all(path.startswith(own) for path in paths):
        return Held.OTHER_FILES
    if rows == accepted.row_count:
        return Held.AS_ACCEPTED
    return Held.OTHER_ROWS if paths else Held.GONE
