"""Early cutoff: which staged partitions equal what consumers see already.

Publishing them would change nothing but the version, and wake everything downstream for nothing.
"""

from datetime import date

from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import Content, content_by_day
from backfill_platform.domain.modes import PublishMode
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.runs import AcceptedPartition
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.still_held import days_still_held
from backfill_platform.lakehouse.delta_tables import read_table_state


def unchanged_days(platform: Platform, manifest: Manifest, days: PartitionSet) -> tuple[date, ...]:
    """Of a swap all or none: a table that takes another's place takes it with every partition, so
    that all of it is owed to one run (test_a_swap_leaves_no_day_to_another_run). Of a run that
    changes the columns only what it has published itself: equal rows of another would keep it from
    changing them (test_equal_rows_do_not_keep_a_run_from_changing_the_columns)."""
    equal = days_equal_to_accepted(platform, manifest, days)
    if manifest.target.schema_changes:
        accepted = platform.ledger.accepted(manifest.target.table, equal)
        equal = tuple(day for day in equal if accepted[day].run_id == manifest.run_id)
    if manifest.target.publish_mode is not PublishMode.SHADOW_SWAP:
        return equal
    return equal if len(equal) == len(days) and _holds_nothing_else(platform, manifest) else ()


def _holds_nothing_else(platform: Platform, manifest: Manifest) -> bool:
    target = manifest.target
    state = read_table_state(platform.warehouse.table_path(target.table), None)
    return all(day in target.partitions for day in (state.days if state else ()))


def days_equal_to_accepted(
    platform: Platform, manifest: Manifest, days: PartitionSet
) -> tuple[date, ...]:
    """Only where the target still holds what the accepted run left there, in its own files or in
    compacted ones: a partition that somebody else wrote into has to be looked at by the publisher.
    """
    table = manifest.target.table
    staged = content_by_day(platform.ledger.measurements(manifest.run_id, days), days)
    accepted = platform.ledger.accepted(table, days)
    equal = {
        day: accepted[day]
        for day, content in staged.items()
        if day in accepted and _content_of(accepted[day]) == content
    }
    held = days_still_held(platform, table, equal)
    return tuple(day for day in equal if day in held)


def _content_of(accepted: AcceptedPartition) -> Content:
    return Content(accepted.row_count, accepted.checksum)
