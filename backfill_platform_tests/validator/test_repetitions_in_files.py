"""Repeated keys, counted in staged files: what Spark counts, wherever it is said at all."""

import json
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from backfill_platform.domain.contracts import Column, Contract, Unique
from backfill_platform.domain.errors import EngineUnavailable
from backfill_platform.domain.partitions import DayRange
from backfill_platform.lakehouse.delta_tables import create_staging_table
from backfill_platform.lakehouse.reading import read_own
from backfill_platform.validator.measure import measure_staged
from backfill_platform.validator.measure_plan import MeasurePlan
from backfill_platform.validator.repetitions import KEYS
from backfill_platform.validator.repetitions_in_files import repeated_in_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAYS = DayRange(date(2025, 1, 1), date(2025, 1, 4))
TYPES = {
    "day": "date",
    "word": "string",
    "small": "integer",
    "price": "decimal(12,2)",
    "at": "timestamp",
    "is_open": "boolean",
    "share": "double",
}
CONTRACT = Contract(
    columns=tuple(
        Column(name=name, type=type_name, is_nullable=name != "day")
        for name, type_name in TYPES.items()
    ),
    checks=(),
    uniques=(Unique(columns=("word", "day")),),
)
PLAN = MeasurePlan(
    table="silver.meters",
    contract=CONTRACT,
    partition_column="day",
    keys=("day", "word", "small", "price", "at", "is_open"),
)
SCHEMA = ", ".join(f"{name} {type_name}" for name, type_name in TYPES.items())
ROWS = st.tuples(
    st.sampled_from([*DAYS]),
    st.none() | st.sampled_from(["", "a", "é"]),
    st.none() | st.integers(0, 1),
    st.none() | st.sampled_from([Decimal("0.00"), Decimal("1.10")]),
    st.none() | st.sampled_from([datetime(1900, 1, 1), datetime(2025, 1, 1, 0, 0, 0, 1)]),  # noqa: DTZ001
    st.none() | st.booleans(),
    st.just(0.5),
)


def staged(spark: "SparkSession", path: Path, rows: list[tuple[Any, ...]]) -> Path:
    create_staging_table(path, CONTRACT, partition_column="day", extra_columns=())
    spark.createDataFrame(rows, SCHEMA).write.format("delta").mode("append").save(str(path))
    return path


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(ROWS, min_size=1, max_size=12))
def test_files_tell_what_spark_counts(
    spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[Any, ...]]
) -> None:
    path = staged(spark, tmp_path_factory.mktemp("staged") / "runs", rows)
    repeated = repeated_in_files(path, DAYS, PLAN)
    held = read_own(spark, path, DAYS)
    assert repeated.keys() == {KEYS, "checks__" + CONTRACT.uniques[0].name}
    assert measure_staged(held, PLAN, (), repeated) == measure_staged(held, PLAN)


def test_floats_are_left_to_spark(spark: "SparkSession", tmp_path: Path) -> None:
    row = (DAYS.start, "a", 1, Decimal("1.00"), None, True, 0.5)
    path = staged(spark, tmp_path / "runs", [row])
    plan = replace(PLAN, keys=("day", "share"))
    assert KEYS not in repeated_in_files(path, DAYS, plan)


def test_days_too_large_to_be_held_are_left_to_spark(spark: "SparkSession", tmp_path: Path) -> None:
    row = (DAYS.start, "a", 1, Decimal("1.00"), None, True, 0.5)
    path = staged(spark, tmp_path / "runs", [row, row])
    assert repeated_in_files(path, DAYS, PLAN, most_rows=2)[KEYS] == {DAYS.start: 1}
    assert repeated_in_files(path, DAYS, PLAN, most_rows=1) == {}


def test_a_file_that_cannot_be_read_is_named(spark: "SparkSession", tmp_path: Path) -> None:
    row = (DAYS.start, "a", 1, Decimal("1.00"), None, True, 0.5)
    path = staged(spark, tmp_path / "runs", [row])
    entry = path / "_delta_log" / f"{1:020d}.json"
    adds = [json.loads(line)["add"] for line in entry.read_text().splitlines() if '"add"' in line]
    (path / adds[0]["path"]).write_bytes(b"PAR1")
    with pytest.raises(EngineUnavailable, match="try again"):
        repeated_in_files(path, DAYS, PLAN)
