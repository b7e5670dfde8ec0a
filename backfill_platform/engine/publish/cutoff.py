"""Early cutoff: which staged partitions equal what consumers see already.

Publishing them would change nothing but the version, and wake everything downstream for nothing.
"""

from datetime import date

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import Content, content_by_day
from backfill_platform.domain.modes import PublishMode
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.rollback.shown_runs import shown_runs
from backfill_platform.lakehouse.delta_tables import read_table_state
from backfill_platform.lakehouse.paths import RUNS
from backfill_platform.lakehouse.rearrangements import files_when_landed


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
    path = platform.warehouse.table_path(table)
    accepted = platform.ledger.accepted(table, days)
    shown = shown_runs(platform.ledger, table, days)
    state = read_table_state(path, days)
    if state is None:
        return ()
    staged = content_by_day(platform.ledger.measurements(manifest.run_id, days), days)
    rows = state.row_counts
    equal = {
        day: now.target_version
        for day, content in staged.items()
        if (now := accepted.get(day))
        and Content(now.row_count, now.checksum) == content
        and rows.get(day, 0) == now.row_count
    }
    elsewhere = {
        day: version
        for day, version in equal.items()
        if not all(_lies_below(shown.get(day), file.path) for file in state.files.get(day, ()))
    }
    unmoved = files_when_landed(path, state, elsewhere)
    return tuple(day for day in equal if day not in elsewhere or day in unmoved)


def _lies_below(run_id: RunId | None, path: str) -> bool:
    return run_id is not None and path.startswith(f"{RUNS}/{run_id}/")
