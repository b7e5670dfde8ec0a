"""What the one pass finds, on frames small enough to count by hand."""

from datetime import date

import pytest

from backfill_platform.domain.contracts import Column, ColumnCheck, Contract
from backfill_platform.domain.quality import Measure
from backfill_platform.validator.checks import COMPILERS, failing_rows
from backfill_platform.validator.measure import measure_staged
from backfill_platform.validator.measure_plan import MeasurePlan

DAY, NEXT = date(2025, 1, 1), date(2025, 1, 2)
SCHEMA = "day date, name string, amount long"
CONTRACT = Contract(
    columns=(
        Column(name="day", type="date", is_nullable=False),
        Column(name="name", type="string", is_nullable=False),
        Column(name="amount", type="long", is_nullable=True),
    ),
    checks=(ColumnCheck(column="amount", check="greater_than", arguments={"min_value": 0}),),
)

PLAN = MeasurePlan(
    table="silver.names",
    contract=CONTRACT,
    partition_column="day",
    keys=("day", "name"),
    declared=(Measure(name="total", expression="sum(amount)"),),
)


@pytest.fixture
def measure(spark):
    def measured(rows, partitions=1):
        frame = spark.createDataFrame(rows, SCHEMA).repartition(partitions)
        return measure_staged(frame, PLAN)

    return measured


def test_one_measurement_for_each_day_that_has_rows(measure):
    one, other = measure([(DAY, "a", 1), (DAY, "b", 2), (NEXT, "a", 5)])
    assert (one.day, one.row_count, one.measures) == (DAY, 2, {"total": 3})
    assert (other.day, other.row_count, other.measures) == (NEXT, 1, {"total": 5})


def test_nulls_failures_and_repeated_keys_are_counted(measure):
    (found,) = measure([(DAY, "a", -1), (DAY, "a", 2), (DAY, None, 0), (DAY, "b", None)])
    assert found.duplicate_keys == 1
    assert found.null_counts == {"day": 0, "name": 1}
    assert found.check_failures == {"amount_greater_than": 2}


def test_the_checksum_does_not_depend_on_order_or_tasks(measure):
    rows = [(DAY, f"n{number}", number) for number in range(50)]
    assert measure(rows)[0].checksum == measure(rows[::-1], partitions=5)[0].checksum


@pytest.mark.parametrize(
    "other",
    [
        [(DAY, "a", 1), (DAY, "b", 3)],
        [(DAY, "a", 1)],
        [(DAY, "a", 1), (DAY, "b", None)],
        [(DAY, "a", 1), (DAY, "b", 2), (DAY, "b", 2)],
    ],
    ids=["a value", "a row", "a null", "a repetition"],
)
def test_the_checksum_tells_other_content_apart(measure, other):
    (before,) = measure([(DAY, "a", 1), (DAY, "b", 2)])
    (after,) = measure(other)
    assert before.checksum != after.checksum


CASES = {
    "equal_to": ({"value": 2}, [1, 3]),
    "not_equal_to": ({"value": 2}, [2]),
    "greater_than": ({"min_value": 2}, [1, 2]),
    "greater_than_or_equal_to": ({"min_value": 2}, [1]),
    "less_than": ({"max_value": 2}, [2, 3]),
    "less_than_or_equal_to": ({"max_value": 2}, [3]),
    "in_range": ({"min_value": 1, "max_value": 3, "include_max": False}, [3]),
    "isin": ({"allowed_values": [1, 2]}, [3]),
    "notin": ({"forbidden_values": [1, 2]}, [1, 2]),
    "str_matches": ({"pattern": "[ab]"}, ["cab"]),
    "str_contains": ({"pattern": "b$"}, ["apple"]),
    "str_startswith": ({"string": "a"}, ["cab"]),
    "str_endswith": ({"string": "b"}, ["apple"]),
    "str_length": ({"min_value": 2, "max_value": 4}, ["apple"]),
}


@pytest.mark.parametrize("name", COMPILERS)
def test_every_check_counts_the_rows_that_fail_and_no_null(spark, name):
    arguments, failing = CASES[name]
    texts = name.startswith("str_")
    values = ["apple", "cab", "ab", None] if texts else [1, 2, 3, None]
    frame = spark.createDataFrame(
        [(value,) for value in values], f"v {'string' if texts else 'long'}"
    )
    check = ColumnCheck(column="v", check=name, arguments=arguments)
    assert frame.agg(failing_rows(check)).collect()[0][0] == len(failing)
