"""What consumers see: the accepted rows of a table, for screens and reports."""

from collections.abc import Sequence
from typing import Any

from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.engine.platform import Platform
from backfill_platform.lakehouse.rows import read_rows


def accepted_rows(
    platform: Platform, table: str, days: PartitionSet, columns: Sequence[str]
) -> list[dict[str, Any]]:
    """No JVM; a table that does not exist yet has no rows."""
    rows = read_rows(
        platform.warehouse.table_path(table),
        columns=columns,
        days=days,
    )
    return rows.to_pylist() if rows else []
