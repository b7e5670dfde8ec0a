"""What the one pass finds, on frames small enough to count by hand."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from backfill_platform.domain.contracts import (
    Column,
    ColumnCheck,
    Contract,
    Unique,
)
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.domain.quality import InstantBound, Measure
from backfill_platform.validator.checks import COMPILED, failing_rows
from backfill_platform.validator.figures import adds_up
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
    def measured(rows, partitions=1, schema=SCHEMA, **plan):
        frame = spark.createDataFrame(rows, schema).repartition(partitions)
        return measure_staged(frame, replace(PLAN, **plan))

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


def test_figures_stay_exact_to_the_cent_and_beyond_what_a_float_holds(measure):
    cents = Measure(name="cents", expression="sum(cast(amount as decimal(38,2)) / 100)")
    large = Measure(name="large", expression="sum(amount) * 4")
    (found,) = measure([(DAY, "a", 2**60), (DAY, "b", 10)], declared=(cents, large))
    assert found.measures == {"cents": Decimal(2**60 + 10) / 100, "large": 2**62 + 40}


@pytest.mark.parametrize("expression", ["avg(amount)", "sum(cast(amount as double))", "max(name)"])
def test_a_measure_that_is_no_exact_number_is_refused_by_name(measure, expression):
    with pytest.raises(DeclarationInvalid, match=r"silver\.names: quality\.measures: .*'total'"):
        measure([(DAY, "a", 1)], declared=(Measure(name="total", expression=expression),))


def test_a_measure_is_taken_for_each_value_of_its_columns_and_for_the_day(measure):
    by_name = Measure(name="largest", expression="max(amount)", by=("name",))
    by_both = Measure(name="pairs", expression="count(distinct amount)", by=("name", "amount"))
    rows = [(DAY, "a", 1), (DAY, "a", 2), (DAY, None, 2), (DAY, "b", None)]
    (found,) = measure(rows, declared=(by_name, by_both))
    assert found.by_dimension == {
        "largest": {"a": 2, "null": 2, "b": 0},
        "pairs": {"a / 1": 1, "a / 2": 1, "null / 2": 1, "b / null": 0},
    }
    assert found.measures == {"largest": 2, "pairs": 2}


def test_a_reconciled_day_is_the_sum_of_its_parts(measure):
    names = Measure(name="names", expression="count(distinct amount)", by=("name",))
    (found,) = measure([(DAY, "a", 1), (DAY, "b", 1)], declared=(), reconciled=(names,))
    assert (found.measures, found.by_dimension) == ({"names": 2}, {"names": {"a": 1, "b": 1}})


@pytest.mark.parametrize(("written_by", "without"), [("run-1", 2), (None, 1)])
def test_rows_without_lineage_name_nobody_or_unless_they_are_merged_another_run(
    spark, written_by, without
):
    rows = [(DAY, "a", 1, "run-1"), (DAY, "b", 1, "run-2"), (DAY, "c", 1, None)]
    frame = spark.createDataFrame(rows, f"{SCHEMA}, produced_by_run_id string").selectExpr(
        "*",
        "'case/1' as transform_version",
        "'x' as input_snapshot",
        "'LIVE' as processing_mode",
        "null as reference_data_version",
    )
    (found,) = measure_staged(frame, replace(PLAN, written_by=written_by))
    assert found.rows_without_lineage == without


def test_lineage_that_is_not_there_is_not_measured_as_complete(measure):
    assert measure([(DAY, "a", 1)])[0].rows_without_lineage is None


def test_instants_are_held_against_the_day_of_their_own_row(measure):
    seen_at = Column(name="seen_at", type="timestamp", is_nullable=True)
    bound = InstantBound(column="seen_at", earliest=timedelta(), latest=timedelta(days=1))
    midnight = datetime(2025, 1, 2, tzinfo=UTC)
    one, other = measure(
        [
            (DAY, "first instant", 1, midnight - timedelta(days=1)),
            (DAY, "an hour early", 1, midnight - timedelta(hours=25)),
            (DAY, "first of the next day", 1, midnight),
            (DAY, "never", 1, None),
            (NEXT, "first instant", 1, midnight),
        ],
        schema=f"{SCHEMA}, seen_at timestamp",
        contract=replace(CONTRACT, columns=(*CONTRACT.columns, seen_at)),
        instants=(bound,),
    )
    assert one.misplaced_instants == {"seen_at": 2}
    assert other.misplaced_instants == {"seen_at": 0}


def test_rows_that_share_what_is_declared_unique_are_counted_within_their_day(measure):
    contract = replace(CONTRACT, checks=(), uniques=(Unique(columns=("amount",)),))
    rows = [(DAY, "a", 1), (DAY, "b", None), (DAY, "c", None), (NEXT, "a", 1)]
    one, other = measure(rows, contract=contract)
    assert one.check_failures == {"unique(amount)": 1}
    assert other.check_failures == {"unique(amount)": 0}


def test_more_checks_than_one_aggregation_takes_are_all_counted(measure):
    columns = [Column(name=f"c{number}", type="long", is_nullable=False) for number in range(60)]
    limits = [
        ColumnCheck(column=column.name, check="less_than", arguments={"max_value": number})
        for number, column in enumerate(columns)
    ]
    (found,) = measure(
        [(DAY, "a", 1, *[30] * 60)],
        schema=", ".join((SCHEMA, *(f"{column.name} long" for column in columns))),
        contract=Contract(columns=(*CONTRACT.columns, *columns), checks=tuple(limits)),
    )
    assert sum(found.check_failures.values()) == 31
    assert len(found.null_counts) == 62


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
    "str_length": ({"min_value": 2, "max_value": 4, "exact_value": None}, ["apple"]),
}


@pytest.mark.parametrize("name", sorted(COMPILED - {"unique_values_eq"}))
def test_every_check_counts_the_rows_that_fail_and_no_null(spark, name):
    arguments, failing = CASES[name]
    texts = name.startswith("str_")
    values = ["apple", "cab", "ab", None] if texts else [1, 2, 3, None]
    frame = spark.createDataFrame(
        [(value,) for value in values], f"v {'string' if texts else 'long'}"
    )
    check = ColumnCheck(column="v", check=name, arguments=arguments)
    assert frame.agg(failing_rows(check)).collect()[0][0] == len(failing)


@pytest.mark.parametrize(
    ("values", "failures"),
    [([1, 2], 0), ([1, 2, 3], 1), ([1], 1), ([3, 4], 4), ([None, 1, 2], 1)],
)
def test_values_that_are_not_listed_and_those_that_are_missing_are_counted(spark, values, failures):
    frame = spark.createDataFrame([(1,), (2,)], "v long")
    check = ColumnCheck(column="v", check="unique_values_eq", arguments={"values": values})
    assert frame.agg(failing_rows(check)).collect()[0][0] == failures


LISTED = ColumnCheck(column="name", check="isin", arguments={"allowed_values": ["a", "b"]})


def test_measures_by_listed_values_are_taken_with_everything_else(measure):
    by_name = Measure(name="rows", expression="count(1)", by=("name",))
    large = Measure(name="large", expression="count_if(amount > 1)", by=("name",))
    rows = [(DAY, "a", 1), (DAY, "a", 2), (DAY, "b", 3), (DAY, "c", -4), (NEXT, "b", 5)]
    contract = replace(CONTRACT, checks=(*CONTRACT.checks, LISTED))
    one, other = measure(rows, contract=contract, reconciled=(by_name,), declared=(large,))
    assert one.by_dimension == {"rows": {"a": 2, "b": 1, "c": 1}, "large": {"a": 1, "b": 1, "c": 0}}
    assert (one.row_count, one.measures) == (4, {"rows": 4, "large": 2})
    assert one.check_failures == {"amount_greater_than": 1, "name_isin": 1}
    assert (other.row_count, other.by_dimension["rows"]) == (1, {"b": 1})


def test_the_checksum_is_the_same_whatever_the_measures_are_told_apart_by(measure):
    rows = [(DAY, "a", 1), (DAY, "a", 2), (DAY, "b", 3)]
    contract = replace(CONTRACT, checks=(*CONTRACT.checks, LISTED))
    by_name = Measure(name="rows", expression="count(1)", by=("name",))
    (plain,), (by_names,) = measure(rows), measure(rows, contract=contract, declared=(by_name,))
    assert by_names.checksum == plain.checksum


@pytest.mark.parametrize(
    ("expression", "does"),
    [
        ("count(1)", True),
        ("count_if(state = 'OPEN')", True),
        (" SUM( cast(amount as decimal(38,2)) ) ", True),
        ("sum(if(a > 0, (b), c))", True),
        ("count(distinct name)", False),
        ("count( DISTINCT name)", False),
        ("max(amount)", False),
        ("sum(a) / count(b)", False),
        ("sum(a) - sum(b)", False),
        ("count_if(name = ')')", True),
        ("count_if(name = '(') * count_if(name = ')')", False),
        ("sum(amount) * 4", False),
    ],
)
def test_only_what_plainly_adds_up_is_taken_to_add_up(expression, does):
    assert adds_up(expression) is does
