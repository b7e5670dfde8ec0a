"""What is kept beside the runs outlives whoever cleans the table, and no reader sees it."""

import os
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

from backfill_platform.lakehouse.paths import Warehouse

TABLE, RUN = "bronze.readings", "bf-20260704-readings-1.0.0-001"
LONG_AGO = 1_000_000_000


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    """A target, what a run has staged and published nothing of, and what is kept about that run:
    all older than any retention."""
    warehouse = Warehouse(tmp_path)
    _write(warehouse.table_path(TABLE), "seen")
    _write(warehouse.staging_path(TABLE, RUN), "staged")
    for path in _kept(warehouse):
        _write(path, path.name)
    for file in tmp_path.rglob("*"):
        os.utime(file, (LONG_AGO, LONG_AGO))
    return warehouse


def test_vacuum_spares_what_lies_beside(warehouse: Warehouse) -> None:
    for path in (warehouse.staging_path(TABLE, RUN), warehouse.table_path(TABLE)):
        DeltaTable(path).vacuum(0, dry_run=False, enforce_retention_duration=False, full=True)
    assert _staged_files(warehouse) == []
    assert [_meters(path) for path in _kept(warehouse)] == [["rejects"], ["failing"], ["diff"]]


def test_vacuum_by_spark_spares_what_lies_beside(warehouse: Warehouse, spark: SparkSession) -> None:
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", False)
    for path in (warehouse.staging_path(TABLE, RUN), warehouse.table_path(TABLE)):
        spark.sql(f"VACUUM delta.`{path}` RETAIN 0 HOURS").collect()
    spark.conf.unset("spark.databricks.delta.retentionDurationCheck.enabled")
    assert _staged_files(warehouse) == []
    assert [_meters(path) for path in _kept(warehouse)] == [["rejects"], ["failing"], ["diff"]]


def test_readers_of_the_table_and_of_staging_do_not_see_it(warehouse: Warehouse) -> None:
    assert _meters(warehouse.table_path(TABLE)) == ["seen"]
    assert _meters(warehouse.staging_path(TABLE, RUN)) == ["staged"]


def _kept(warehouse: Warehouse) -> tuple[Path, ...]:
    return (
        warehouse.rejects_path(TABLE, RUN),
        warehouse.failing_path(TABLE, RUN),
        warehouse.diff_path(TABLE, RUN),
    )


def _write(path: Path, meter: str) -> None:
    rows = pa.table({"day": pa.array([date(2026, 1, 1)], pa.date32()), "meter": [meter]})
    write_deltalake(path, rows, partition_by=["day"])


def _meters(path: Path) -> list[str]:
    return [row["meter"] for row in DeltaTable(path).to_pyarrow_table().to_pylist()]


def _staged_files(warehouse: Warehouse) -> list[Path]:
    return [*warehouse.staging_path(TABLE, RUN).rglob("*.parquet")]
