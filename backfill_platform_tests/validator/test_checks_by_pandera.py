"""Checks of people's own: pandera runs them over the staged rows, and the days are named."""

from datetime import date

import pandera.pyspark as pa
import pyspark.sql.types as T
import pytest
from pyspark.sql import functions as F

from backfill_platform.domain.contracts import PanderaCheck
from backfill_platform.validator.by_pandera import days_that_fail
from backfill_platform.validator.contract import read_contract
from backfill_platform.validator.measure import measure_staged
from backfill_platform.validator.measure_plan import MeasurePlan

DAY, NEXT = date(2025, 1, 1), date(2025, 1, 2)


class Amounts(pa.DataFrameModel):
    day: T.DateType = pa.Field(nullable=False)
    amount: T.LongType = pa.Field(nullable=True, unique_values_eq=[1, 2, 3.0])

    @pa.check("amount")
    @classmethod
    def even(cls, rows):
        return rows.where(F.col("amount") % 2 != 0).isEmpty()

    @pa.dataframe_check
    @classmethod
    def few(cls, rows):
        return rows.count() < 3


EVEN, FEW = "amount_even (by pandera itself)", "few (by pandera itself)"
VALUES = "amount_unique_values_eq (by pandera itself)"
PLAN = MeasurePlan(
    table="silver.amounts",
    contract=read_contract(Amounts),
    partition_column="day",
    keys=("day", "amount"),
)


def test_the_days_on_which_a_check_does_not_hold_are_told_apart(spark, monkeypatch):
    monkeypatch.setenv("PANDERA_VALIDATION_ENABLED", "False")
    rows = spark.createDataFrame([(DAY, 1), (DAY, 2), (NEXT, 2)], "day date, amount long")
    one, other = measure_staged(rows, PLAN)
    assert (one.check_failures[EVEN], other.check_failures[EVEN]) == (1, 0)


def test_a_check_that_holds_for_each_day_but_not_for_all_fails_every_day(spark):
    rows = spark.createDataFrame([(DAY, 2), (DAY, 4), (NEXT, 2)], "day date, amount long")
    assert [one.check_failures[FEW] for one in measure_staged(rows, PLAN)] == [1, 1]


def test_a_built_in_check_that_does_not_compile_is_pandera_s_own_too(spark):
    rows = spark.createDataFrame([(DAY, 1), (DAY, 2), (DAY, 3), (NEXT, 2)], "day date, amount long")
    assert [one.check_failures[VALUES] for one in measure_staged(rows, PLAN)] == [0, 1]


class Frame:
    """Of which a check is asked as a whole; a part of it would have no `where`."""


def test_a_check_that_holds_is_asked_once():
    holds = PanderaCheck(check="holds", holds=lambda rows: isinstance(rows, Frame))
    assert days_that_fail(Frame(), "day", holds, [DAY, NEXT]) == frozenset()  # pyright: ignore


def test_nothing_is_asked_of_a_chunk_without_rows():
    never = PanderaCheck(check="never", holds=lambda rows: pytest.fail("was asked"))
    assert days_that_fail(Frame(), "day", never, []) == frozenset()  # pyright: ignore
