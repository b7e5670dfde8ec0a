"""What consumers see in the partitions that a rollback returned: how many rows, which checksum.

Both stand in the ledger's history, from the time when the content was published first. Where no run
had written what returns, nobody has reckoned a checksum; then the files themselves name it.
"""

from collections import defaultdict
from datetime import date

from backfill_platform.domain.errors import StagingIncomplete
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import EMPTY_CHECKSUM
from backfill_platform.domain.publications import DataFile, fingerprint
from backfill_platform.domain.runs import AcceptedPartition, AcceptedRows
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.rollback.facts import known_rollbacks, returned_versions
from backfill_platform.lakehouse.former_files import former_files
from backfill_platform.lakehouse.paths import RUNS
from backfill_platform.planner.owed import shown_entry
from backfill_platform.planner.rollback import former_versions

UNMEASURED = "files:"  # instead of a checksum, before the fingerprint of the files


def returned_rows(platform: Platform, manifest: Manifest) -> tuple[AcceptedRows, ...]:
    table, versions = manifest.target.table, former_versions(manifest)
    returned = returned_versions(known_rollbacks(platform.ledger, table))
    histories = platform.ledger.accepted_histories(table, versions)
    files = _files_by_day(platform, manifest)
    return tuple(
        _accepted_rows(
            day,
            files.get(day, ()),
            shown_entry(histories.get(day, ()), returned, version=versions[day]),
        )
        for day in manifest.target.partitions
    )


def _files_by_day(platform: Platform, manifest: Manifest) -> dict[date, tuple[DataFile, ...]]:
    path = platform.warehouse.table_path(manifest.target.table)
    found = former_files(path, former_versions(manifest))
    if found is None:
        raise StagingIncomplete(
            f"{manifest.run_id} has landed, and the version that it returned to can no longer be "
            "read, so its row counts are unknown; restore the target's log from a copy"
        )
    by_day: defaultdict[date, list[DataFile]] = defaultdict(list)
    for file in found:
        by_day[file.day].append(file)
    return {day: tuple(files) for day, files in by_day.items()}


def _accepted_rows(
    day: date, files: tuple[DataFile, ...], shown: AcceptedPartition | None
) -> AcceptedRows:
    row_count = sum(file.row_count for file in files)
    if not files:
        checksum = EMPTY_CHECKSUM
    elif shown is not None and _is_content_of(shown, files, row_count):
        checksum = shown.checksum
    else:
        checksum = UNMEASURED + fingerprint(file.path for file in files)
    return AcceptedRows(day=day, row_count=row_count, checksum=checksum)


def _is_content_of(shown: AcceptedPartition, files: tuple[DataFile, ...], row_count: int) -> bool:
    """Somebody may have written into the partition after the run that published it."""
    own = f"{RUNS}/{shown.run_id}/"
    return shown.row_count == row_count and all(file.path.startswith(own) for file in files)
