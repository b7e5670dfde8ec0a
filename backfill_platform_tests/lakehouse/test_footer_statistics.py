"""What is told of a file's columns without reading its rows: never less than what it holds."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from backfill_platform.domain.contracts import Column
from backfill_platform.lakehouse.footer_statistics import footer_statistics


def told(
    folder: Path, values: list[Any], kind: pa.DataType, type_name: str, **how: Any
) -> dict[str, Any]:
    file = folder / "one.parquet"
    pq.write_table(pa.table({"value": pa.array(values, kind)}), file, **how)
    column = Column(name="value", type=type_name, is_nullable=True)
    return json.loads(footer_statistics(file, [column]))


@pytest.mark.parametrize(
    ("values", "kind", "type_name", "least", "most"),
    [
        ([3, None, -1], pa.int32(), "integer", -1, 3),
        ([2**53 + 1, 0], pa.int64(), "long", 0, 2**53 + 1),
        ([date(2025, 1, 2), date(2024, 12, 31)], pa.date32(), "date", "2024-12-31", "2025-01-02"),
        (["b", "a", None], pa.string(), "string", "a", "b"),
        ([Decimal("1.50"), Decimal("-2.25")], pa.decimal128(9, 2), "decimal(9,2)", -2.25, 1.5),
    ],
)
def test_bounds_are_those_of_the_rows(
    tmp_path: Path, values: list[Any], kind: pa.DataType, type_name: str, least: Any, most: Any
) -> None:
    found = told(tmp_path, values, kind, type_name)
    assert found == {
        "numRecords": len(values),
        "minValues": {"value": least},
        "maxValues": {"value": most},
        "nullCount": {"value": values.count(None)},
    }


def test_instants_between_milliseconds_are_within_the_bounds(tmp_path: Path) -> None:
    low = datetime(2025, 1, 1, 12, 0, 0, 1999, tzinfo=UTC)
    high = datetime(2025, 1, 1, 23, 59, 59, 999001, tzinfo=UTC)
    found = told(tmp_path, [high, low], pa.timestamp("us", tz="UTC"), "timestamp")
    assert found["minValues"] == {"value": "2025-01-01T12:00:00.001Z"}
    assert found["maxValues"] == {"value": "2025-01-02T00:00:00.000Z"}


@given(st.lists(st.text(st.sampled_from("aé\U0001f600\U0010ffff"), max_size=40), min_size=1))
def test_texts_that_are_cut_stay_within_the_bounds(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    found = told(tmp_path_factory.mktemp("texts"), texts, pa.string(), "string")
    assert found["minValues"]["value"] <= min(texts)
    assert found["maxValues"].get("value", max(texts)) >= max(texts)
    assert len(found["minValues"]["value"]) <= 32


def test_floats_have_no_bounds_because_parquet_passes_over_what_is_no_number(
    tmp_path: Path,
) -> None:
    found = told(tmp_path, [1.0, float("nan"), None], pa.float64(), "double")
    assert (found["minValues"], found["maxValues"]) == ({}, {})
    assert found["nullCount"] == {"value": 1}


def test_decimals_that_a_float_would_change_have_no_bounds(tmp_path: Path) -> None:
    long = Decimal("1234567890123456.78")
    found = told(tmp_path, [long], pa.decimal128(20, 2), "decimal(20,2)")
    assert (found["minValues"], found["maxValues"]) == ({}, {})


def test_nothing_is_said_of_a_column_of_which_the_footer_says_nothing(tmp_path: Path) -> None:
    found = told(tmp_path, [1, 2], pa.int32(), "integer", write_statistics=False)
    assert found == {"numRecords": 2, "minValues": {}, "maxValues": {}, "nullCount": {}}


def test_a_group_of_nothing_but_nulls_leaves_the_bounds_of_the_others(tmp_path: Path) -> None:
    found = told(tmp_path, [None, None, 5, 7], pa.int32(), "integer", row_group_size=2)
    assert (found["minValues"], found["maxValues"]) == ({"value": 5}, {"value": 7})
    assert found["nullCount"] == {"value": 2}


def test_only_the_first_columns_are_told_of_a_wide_table(tmp_path: Path) -> None:
    names = [f"c{number:02}" for number in range(40)]
    file = tmp_path / "wide.parquet"
    pq.write_table(pa.table({name: [1] for name in names}), file)
    columns = [Column(name=name, type="long", is_nullable=True) for name in names]
    assert [*json.loads(footer_statistics(file, columns))["minValues"]] == names[:32]
