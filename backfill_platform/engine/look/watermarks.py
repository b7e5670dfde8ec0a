"""How far a table or a source has come: its days, its gaps, and what was accepted last. No JVM."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.partitions import ONE_DAY, DayRange, PartitionSet
from backfill_platform.domain.runs import AcceptedPartition
from backfill_platform.domain.tables import FileSource, TableSpec
from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.delta_tables import read_table_state
from backfill_platform.sources.files import count_rows, day_files


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    name: str
    starts_on: date  # as declared
    first: date | None  # nothing where there is no data at all
    last: date | None
    partitions: int
    rows: int
    gaps: PartitionSet | None  # days without data between the start and the last day
    version: int | None  # of a table
    last_accepted_at: datetime | None  # of a table; nothing for a source
    last_accepted_run: RunId | None


def read_watermark(platform: Platform, name: str) -> Watermark:
    if name in platform.catalog.tables:
        return _table_watermark(platform, platform.catalog.tables[name])
    return _source_watermark(platform, platform.catalog.sources[name])


def _table_watermark(platform: Platform, spec: TableSpec) -> Watermark:
    state = read_table_state(platform.warehouse.table_path(spec.full_name), None)
    rows = state.row_counts if state else {}
    accepted = platform.ledger.accepted(spec.full_name, _days_until_today(platform, spec.start))
    newest = max(accepted.values(), key=_order, default=None)
    # A day that was accepted without rows holds no files, and is no gap.
    known = {*rows, *accepted}
    return Watermark(
        name=spec.full_name,
        starts_on=spec.start,
        first=min(known, default=None),
        last=max(known, default=None),
        partitions=len(known),
        rows=sum(rows.values()),
        gaps=find_gaps(spec.start, known),
        version=state.version if state else None,
        last_accepted_at=newest.accepted_at if newest else None,
        last_accepted_run=newest.run_id if newest else None,
    )


def _source_watermark(platform: Platform, source: FileSource) -> Watermark:
    """By the footers of its files: their contents are not read, however much has landed."""
    landed = {
        day: day_files(platform.landing, source, day)
        for day in _days_until_today(platform, source.start)
    }
    rows = {day: sum(map(count_rows, files)) for day, files in landed.items() if files}
    return Watermark(
        name=source.name,
        starts_on=source.start,
        first=min(rows, default=None),
        last=max(rows, default=None),
        partitions=len(rows),
        rows=sum(rows.values()),
        gaps=find_gaps(source.start, rows),
        version=None,
        last_accepted_at=None,
        last_accepted_run=None,
    )


def find_gaps(start: date, present: Iterable[date]) -> PartitionSet | None:
    """From the start to the last day that is there; what is still to come is no gap."""
    held = frozenset(present)
    last = max(held, default=None)
    if last is None or last < start:
        return None
    missing = [day for day in DayRange.closed(start, last) if day not in held]
    return PartitionSet.of_days(missing) if missing else None


def _days_until_today(platform: Platform, start: date) -> DayRange:
    return DayRange(start, max(platform.clock().date(), start) + ONE_DAY)


def _order(accepted: AcceptedPartition) -> tuple[datetime, int, date]:
    return accepted.accepted_at, accepted.target_version, accepted.day
