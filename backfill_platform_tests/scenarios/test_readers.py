"""Whatever way a table is published, and after its rollback: all engines read the same rows."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable

from backfill_platform.engine.platform import Platform
from backfill_platform_tests.delta_reader import read_table
from backfill_platform_tests.scenarios.crash_walks import IN_MODES, Walk, open_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = list[tuple[tuple[str, str], ...]]


@pytest.fixture(params=IN_MODES, ids=lambda walk: walk.name.replace(" ", "-"))
def walked(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Where the table lies that was published, or published and rolled back."""
    walk: Walk = request.param
    platform = open_home(tmp_path)
    walk.prepare(platform)
    walk.take(platform, _no_spark)
    return _path(platform, walk)


def test_spark_delta_rs_and_an_independent_reader_agree(
    walked: Path, spark: "SparkSession"
) -> None:
    by_spark = spark.read.format("delta").load(str(walked)).collect()
    assert (
        _told(row.asDict() for row in by_spark)
        == _told(DeltaTable(walked).to_pyarrow_table().to_pylist())
        == _told(read_table(walked))
    )


def _path(platform: Platform, walk: Walk) -> Path:
    return platform.warehouse.table_path(walk.table)


def _told(rows: Any) -> Rows:
    """By column, since engines order columns and rows as they like."""
    return sorted(tuple(sorted((name, str(row[name])) for name in row)) for row in rows)


def _no_spark() -> Any:
    raise AssertionError("these walks are staged by hand")
