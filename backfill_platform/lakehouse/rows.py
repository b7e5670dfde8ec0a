"""Reads a few columns of a few days without a JVM, for screens and reports; not for computing."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.lakehouse.delta_tables import open_table
from backfill_platform.lakehouse.latest import latest_dataset


def read_rows(path: Path, *, columns: Sequence[str], days: PartitionSet) -> pa.Table | None:
    """The newest accepted rows of these days, or nothing where there is no table."""
    if open_table(path) is None:
        return None
    return latest_dataset(path, days=days).to_table(columns=list(columns))
