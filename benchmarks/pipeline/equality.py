"""Whether everybody came to the same: a contest between different outputs is none."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as arrow
from deltalake import DeltaTable

from benchmarks.pipeline.raw import DAY_COLUMNS

if TYPE_CHECKING:
    from benchmarks.pipeline.contest import Taken

_LINEAGE = frozenset(
    {
        "produced_by_run_id",
        "transform_version",
        "input_snapshot",
        "processing_mode",
        "reference_data_version",
    }
)


def refuse_different(taken: Sequence["Taken"]) -> None:
    """Row for row, but for the columns that say who has written a row."""
    for table in DAY_COLUMNS:
        first, *others = taken
        expected = _rows(first.warehouse, table)
        for other in others:
            if not _rows(other.warehouse, table).equals(expected):
                raise RuntimeError(f"{other.who} has other rows in {table} than {first.who}")


def _rows(warehouse: Path, table: str) -> arrow.Table:
    rows = DeltaTable(str(warehouse.joinpath(*table.split(".")))).to_pyarrow_table()
    columns = sorted(set(rows.column_names) - _LINEAGE)
    order = [(name, "ascending") for name in columns]
    return rows.select(columns).sort_by(order).combine_chunks()
