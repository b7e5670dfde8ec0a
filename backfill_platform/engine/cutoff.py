"""Early cutoff: which staged partitions equal what consumers see already.

Publishing them would change nothing but the version, and wake everything downstream for nothing.
"""

from datetime import date

from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import Content, content_by_day
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.delta_tables import read_table_state
from backfill_platform.lakehouse.paths import RUNS


def days_equal_to_accepted(
    platform: Platform, manifest: Manifest, days: DayRange
) -> tuple[date, ...]:
    """Only where the target still holds exactly the files of the accepted run: a partition that
    somebody else wrote into has to be looked at by the publisher."""
    table = manifest.target.table
    accepted = platform.ledger.accepted(table, days)
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
        and all(file.path.startswith(f"{RUNS}/{now.run_id}/") for file in state.files.get(day, ()))
    )
