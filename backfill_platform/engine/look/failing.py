"""Reads what is kept of a run's failing rows, for screens and dashboards; no Spark, no JVM."""

from backfill_platform.domain.failing_rows import FailingRow
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.paths import Warehouse
from backfill_platform.validator.failing import read_failing_table


def read_failing(platform: Platform, run_id: RunId, days: PartitionSet) -> tuple[FailingRow, ...]:
    """Of the staging that was judged last; nothing where all of it passed or has been retired."""
    return failing_of(platform.warehouse, platform.ledger.run(run_id).table, run_id, days)


def failing_of(
    warehouse: Warehouse, table: str, run_id: RunId, days: PartitionSet
) -> tuple[FailingRow, ...]:
    """The same for whoever has looked the run up already."""
    return read_failing_table(warehouse.failing_path(table, run_id), days)
