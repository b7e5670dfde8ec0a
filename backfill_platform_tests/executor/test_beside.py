"""What Spark does beside the caller is there when it is asked for, and ends when nobody waits."""

from threading import Event

import pytest
from pyspark.sql import SparkSession

from backfill_platform.executor.beside import done_beside

LONG = 10**14  # numbers, which take hours to add up
SECONDS = 60.0


def test_it_is_done_while_the_caller_does_something_else(spark: SparkSession) -> None:
    has_gone_on = Event()

    def count() -> int:
        assert has_gone_on.wait(SECONDS)
        return spark.range(7).count()

    with done_beside(spark, count, "counting") as counted:
        has_gone_on.set()
        assert counted() == 7


def test_what_goes_wrong_is_told_to_whoever_asks_for_it(spark: SparkSession) -> None:
    def refuse() -> None:
        raise LookupError("no such day")

    with (
        done_beside(spark, refuse, "refusing") as refused,
        pytest.raises(LookupError, match="no such day"),
    ):
        refused()


def test_whoever_leaves_early_interrupts_what_is_done_beside(spark: SparkSession) -> None:
    has_begun, interrupted = Event(), list[str]()

    def add_up() -> None:
        has_begun.set()
        try:
            spark.range(LONG).selectExpr("sum(id)").collect()
        except Exception as error:
            interrupted.append(str(error))
            raise

    with done_beside(spark, add_up, "adding up"):
        assert has_begun.wait(SECONDS)

    assert len(interrupted) == 1
