"""The log of a staging table learns what its files hold, and of no other file."""

import json
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from deltalake.transaction import AddAction

from backfill_platform.domain.contracts import Column, Contract
from backfill_platform.domain.partitions import DayRange
from backfill_platform.lakehouse.delta_log import read_statistics
from backfill_platform.lakehouse.delta_tables import (
    create_staging_table,
    open_table,
    read_table_state,
)
from backfill_platform.lakehouse.staged_statistics import log_statistics, log_those_of

DAY = date(2025, 1, 1)
CONTRACT = Contract(
    columns=(
        Column(name="day", type="date", is_nullable=False),
        Column(name="id", type="long", is_nullable=True),
    ),
    checks=(),
)


@pytest.fixture
def staging(tmp_path: Path) -> Path:
    path = tmp_path / "runs" / "bf-1"
    create_staging_table(path, CONTRACT, partition_column="day", extra_columns=())
    return path


def write_uncounted(staging: Path, name: str, ids: list[int | None], mode: str = "append") -> str:
    """As Spark does that was told to collect no statistics."""
    path = f"day={DAY}/{name}.parquet"
    file = staging / path
    file.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table({"id": pa.array(ids, pa.int64())}), file)
    add = AddAction(
        path=path,
        size=file.stat().st_size,
        partition_values={"day": str(DAY)},
        modification_time=0,
        data_change=True,
        stats="",
    )
    table = DeltaTable(str(staging))
    table.create_write_transaction([add], mode, table.schema(), ["day"])
    return path


def test_the_log_names_rows_bounds_and_nulls_of_each_file(staging: Path) -> None:
    one, other = write_uncounted(staging, "a", [1, None, 9]), write_uncounted(staging, "b", [4])
    log_statistics(staging)
    found = {path: json.loads(stats) for path, stats in read_statistics(staging).items()}
    assert found == {
        one: {
            "numRecords": 3,
            "minValues": {"id": 1},
            "maxValues": {"id": 9},
            "nullCount": {"id": 1},
        },
        other: {
            "numRecords": 1,
            "minValues": {"id": 4},
            "maxValues": {"id": 4},
            "nullCount": {"id": 0},
        },
    }


def test_a_table_holds_the_same_rows_as_before(staging: Path) -> None:
    write_uncounted(staging, "a", [1, 2])
    before = read_table_state(staging, None)
    log_statistics(staging)
    after = read_table_state(staging, None)
    assert before is not None
    assert after is not None
    assert (after.files, after.row_counts) == (before.files, {DAY: 2})
    assert DeltaTable(str(staging)).to_pyarrow_table()["id"].to_pylist() == [1, 2]


def test_twice_equals_once(staging: Path) -> None:
    write_uncounted(staging, "a", [1])
    log_statistics(staging)
    version = DeltaTable(str(staging)).version()
    log_statistics(staging)
    assert DeltaTable(str(staging)).version() == version


def test_a_file_that_was_replaced_meanwhile_does_not_come_back(staging: Path) -> None:
    replaced = write_uncounted(staging, "a", [1])
    seen_before = open_table(staging)
    assert seen_before is not None
    kept = write_uncounted(staging, "b", [2], mode="overwrite")
    assert not log_those_of(seen_before, staging)
    log_statistics(staging)
    assert read_statistics(staging).keys() == {kept}
    assert replaced not in DeltaTable(str(staging)).file_uris()
    assert DeltaTable(str(staging)).to_pyarrow_table()["id"].to_pylist() == [2]


def test_before_the_log_names_them_rows_are_counted_from_footers(staging: Path) -> None:
    """As a worker leaves it that dies in between."""
    write_uncounted(staging, "a", [1, 2, 3])
    state = read_table_state(staging, None)
    assert state is not None
    assert [*DayRange.of_day(DAY)] == [*state.row_counts]
    assert state.row_counts == {DAY: 3}
