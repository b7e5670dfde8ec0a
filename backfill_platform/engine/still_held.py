"""Which days of a table still hold what the ledger says is accepted there, as its log shows.

What the rows are is not compared: they lie in the files of the run that stands behind the accepted
entry, or in a compaction of those, and there are as many as were accepted.
"""

from collections.abc import Mapping
from datetime import date

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.runs import AcceptedPartition
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.rollback.shown_runs import shown_runs
from backfill_platform.lakehouse.delta_tables import read_table_state
from backfill_platform.lakehouse.paths import RUNS
from backfill_platform.lakehouse.rearrangements import files_when_landed


def days_still_held(
    platform: Platform, table: str, accepted: Mapping[date, AcceptedPartition]
) -> dict[date, RunId | None]:
    """With the run whose files they are; nobody's where no run has written them."""
    if not accepted:
        return {}
    path = platform.warehouse.table_path(table)
    state = read_table_state(path, PartitionSet.of_days(accepted))
    if state is None:
        return {}
    shown = shown_runs(platform.ledger, table, accepted)
    rows = state.row_counts
    versions = {
        day: entry.target_version
        for day, entry in accepted.items()
        if rows.get(day, 0) == entry.row_count
    }
    elsewhere = {
        day: version
        for day, version in versions.items()
        if not all(_lies_below(shown.get(day), file.path) for file in state.files.get(day, ()))
    }
    unmoved = files_when_landed(path, state, elsewhere)
    return {day: shown.get(day) for day in versions if day not in elsewhere or day in unmoved}


def _lies_below(run_id: RunId | None, path: str) -> bool:
    return run_id is not None and path.startswith(f"{RUNS}/{run_id}/")
