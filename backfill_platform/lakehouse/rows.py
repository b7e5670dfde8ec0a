"""Reads a few columns of a few days without a JVM, for screens and reports; not for computing."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.lakehouse.delta_tables import LIBRARY_ERRORS, open_table
from backfill_platform.lakehouse.latest import latest_dataset


def newest_version(path: Path) -> int | None:
    """Of a table that is none of the platform's, and need not be partitioned as those are."""
    try:
        return DeltaTable(str(path)).version()
    except LIBRARY_ERRORS:
        return None


def read_version(
    path: Path, version: int, *, columns: Sequence[str], where: pc.Expression
) -> pa.Table | None:
    """Rows of one version of a table, or nothing where it can no longer be read."""
    try:
        dataset = DeltaTable(str(path), version=version).to_pyarrow_dataset()
        return dataset.to_table(columns=list(columns), filter=where)
    except LIBRARY_ERRORS:
        return None


def read_rows(path: Path, *, columns: Sequence[str], days: PartitionSet) -> pa.Table | None:
    """The newest accepted rows of these days, or nothing where there is no table."""
    if open_table(path) is None:
        return None
    return latest_dataset(path, days=days).to_table(columns=list(columns))
