"""Reads a few columns of a few days without a JVM, for screens and reports; not for computing."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.lakehouse.delta_tables import open_table


def read_rows(
    path: Path, *, columns: Sequence[str], partition_column: str, days: PartitionSet
) -> pa.Table | None:
    """The newest accepted rows of these days, or nothing where there is no table."""
    table = open_table(path)
    if table is None:
        return None
    wanted = [day.isoformat() for day in days]
    return table.to_pyarrow_table(
        partitions=[(partition_column, "in", wanted)], columns=list(columns)
    )
