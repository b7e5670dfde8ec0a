"""The rule, row by row against the oracle, for both versions and both kinds of knowledge."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from backfill_platform.domain.modes import Knowledge
from backfill_platform.domain.partitions import DayRange
from backfill_platform.enforcement.lifecycle import CASE_CLASSES, JURISDICTIONS
from backfill_platform.enforcement.silver import CASE_SLA_DAILY, EVENTS
from backfill_platform_tests.enforcement.oracle import Delivered, Oracle
from backfill_platform_tests.enforcement.running import (
    CALENDAR,
    bronze_frame,
    output_totals,
    rows_of,
    source_totals,
    transform,
)
from backfill_platform_tests.enforcement.small_worlds import EVENTFUL_DAYS, small_worlds

World = tuple[date, list[Delivered]]

few_large_examples = settings(
    max_examples=3,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
worlds = st.sampled_from(EVENTFUL_DAYS).flatmap(
    lambda around: st.tuples(st.just(around), small_worlds(around, most_cases=24))
)


def days_after(around: date) -> DayRange:
    return DayRange.of_day(around).widen(before_days=1, after_days=4)


def expected(world: World, knowledge: Knowledge, version: str) -> list[dict[str, object]]:
    oracle = Oracle(
        calendar=CALENDAR,
        reckons_in_utc=version == "2.4.1",
        before_days=45,
        after_days=30 if knowledge is Knowledge.UP_TO_SNAPSHOT else 0,
    )
    rows = oracle.rows(world[1], days_after(world[0]))
    return sorted(rows, key=lambda row: (row["business_date"], row["case_id"]))


@pytest.mark.parametrize("version", ["2.4.1", "3.1.0"])
@pytest.mark.parametrize("knowledge", list(Knowledge))
@few_large_examples
@given(world=worlds)
def test_spark_and_oracle_agree_row_by_row(
    spark: SparkSession, version: str, knowledge: Knowledge, world: World
) -> None:
    inputs = {EVENTS: bronze_frame(spark, world[1])}
    found = transform(
        CASE_SLA_DAILY, inputs, days_after(world[0]), knowledge=knowledge, version=version
    )
    assert rows_of(found, "business_date", "case_id") == expected(world, knowledge, version)


@pytest.mark.parametrize("knowledge", list(Knowledge))
@few_large_examples
@given(world=worlds)
def test_openings_and_closings_reconcile_exactly(
    spark: SparkSession, knowledge: Knowledge, world: World
) -> None:
    inputs = {EVENTS: bronze_frame(spark, world[1])}
    days = days_after(world[0])
    output = transform(CASE_SLA_DAILY, inputs, days, knowledge=knowledge)
    assert output_totals(CASE_SLA_DAILY, output) == source_totals(
        CASE_SLA_DAILY, inputs, days, knowledge=knowledge
    )


@pytest.mark.parametrize(
    ("marks", "told"),
    [
        pytest.param(
            [("opened", 3), ("closed", 4), ("closed", 5)], [(3, 1, 0), (4, 0, 1)], id="twice"
        ),
        pytest.param(
            [("opened", 4), ("closed", 3), ("closed", 5)], [(4, 1, 0), (5, 0, 1)], id="too early"
        ),
        pytest.param([("closed", 3), ("closed", 4)], [], id="never opened"),
    ],
)
def test_a_case_is_closed_by_its_first_closing_after_it_was_opened(
    spark: SparkSession, marks: list[tuple[str, int]], told: list[tuple[int, int, int]]
) -> None:
    inputs = {EVENTS: bronze_frame(spark, [_mark(*mark) for mark in marks])}
    days = DayRange(date(2025, 2, 3), date(2025, 2, 7))
    found = source_totals(CASE_SLA_DAILY, inputs, days)
    assert found == output_totals(CASE_SLA_DAILY, transform(CASE_SLA_DAILY, inputs, days))
    assert [
        (row["business_date"].day, row["cases_opened"], row["cases_closed"]) for row in found
    ] == told


def _mark(event_type: str, day: int) -> Delivered:
    at = datetime(2025, 2, day, 12, tzinfo=UTC)
    return Delivered(
        case_id="case",
        jurisdiction=JURISDICTIONS[0],
        case_class=CASE_CLASSES[0],
        event_id=f"{event_type}-{day}",
        event_type=event_type,
        occurred_at=at,
        effective_at=None,
        version=1,
        op="u",
        arrival_date=at.date(),
    )
