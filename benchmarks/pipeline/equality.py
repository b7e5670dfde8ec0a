"""Whether everybody came to the same: a contest between different outputs is none."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as arrow
from deltalake import DeltaTable

from backfill_platform.enforcement.catalog import TABLES
from benchmarks.pipeline.taken import Taken

KEYS = {spec.full_name: spec.keys for spec in TABLES}

_LINEAGE = frozenset(
    {
        "produced_by_run_id",
        "transform_version",
        "input_snapshot",
        "processing_mode",
        "reference_data_version",
    }
)


def refuse_different(taken: Sequence[Taken]) -> None:
    """Row for row, but for the columns that say who has written a row."""
    if not taken:  # whatever was asked for is of some days, or of other data
        return
    first, *others = taken
    for table in KEYS:
        expected = _rows(first.warehouse, table)
        for other in others:
            if not _rows(other.warehouse, table).equals(expected):
                raise RuntimeError(f"{other.who} has other rows in {table} than {first.who}")


def _rows(warehouse: Path, table: str) -> arrow.Table:
    """A table says of its columns that they hold no null, or does not: that is nothing of a row."""
    held = DeltaTable(str(warehouse.joinpath(*table.split(".")))).to_pyarrow_table()
    rows = held.select(sorted(set(held.column_names) - _LINEAGE))
    nullable = arrow.schema([field.with_nullable(True) for field in rows.schema])
    return rows.cast(nullable).sort_by([(name, "ascending") for name in KEYS[table]])
