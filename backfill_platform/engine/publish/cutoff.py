"""Early cutoff: which staged partitions equal what consumers see already.

Publishing them would change nothing but the version, and wake everything downstream for nothing.
"""

from datetime import date

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import Content, content_by_day
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.rollback.shown_runs import shown_runs
from backfill_platform.lakehouse.delta_tables import read_table_state
from backfill_platform.lakehouse.paths import RUNS


def days_equal_to_accepted(
    platform: Platform, manifest: Manifest, days: DayRange
) -> tuple[date, ...]:
    """Only where the target still holds exactly the files of the accepted run: a partition that
    somebody else wrote into has to be looked at by the publisher."""
    table = manifest.target.table
    accepted = platform.ledger.accepted(table, days)
    shown = shown_runs(platform.ledger, table, days)
    state = read_table_state(platform.warehouse.table_path(table), PartitionSet.of_range(days))
    if state is None:
        return ()
    staged = content_by_day(platform.ledger.measurements(manifest.run_id, days), days)
    return tuple(
        day
        for day, content in staged.items()
        if (now := accepted.get(day))
        and Content(now.row_count, now.checksum) == content
        and state.row_counts.get(day, 0) == now.row_count
        and all(_lies_below(shown.get(day), file.path) for file in state.files.get(day, ()))
    )


def _lies_below(run_id: RunId | None, path: str) -> bool:
    return run_id is not None and path.startswith(f"{RUNS}/{run_id}/")
