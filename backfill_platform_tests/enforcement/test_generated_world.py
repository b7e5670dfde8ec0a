"""The declared tables over generated data: exact sums, chunks that do not matter, one defect."""

from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from backfill_platform.domain.modes import Knowledge
from backfill_platform.domain.partitions import DayRange
from backfill_platform.enforcement.bronze import CASE_EVENTS, LANDED
from backfill_platform.enforcement.landing.files import SOURCE_FOLDER, land_days
from backfill_platform.enforcement.landing.poison import poison_day
from backfill_platform.enforcement.silver import CASE_SLA_DAILY, EVENTS
from backfill_platform_tests.enforcement.oracle import Oracle
from backfill_platform_tests.enforcement.running import (
    ARRIVALS,
    CALENDAR,
    DAYS,
    LANDED_TYPES,
    deliveries,
    output_totals,
    rows_of,
    source_totals,
    transform,
)

KEY = ("business_date", "case_id")


def test_generated_cases_agree_with_the_oracle(bronze: DataFrame, silver: DataFrame) -> None:
    oracle = Oracle(calendar=CALENDAR, reckons_in_utc=False, before_days=45, after_days=30)
    expected = oracle.rows(deliveries(bronze), DAYS)
    assert rows_of(silver, *KEY) == sorted(expected, key=lambda row: [row[name] for name in KEY])


@pytest.mark.parametrize("knowledge", list(Knowledge))
def test_silver_reconciles_exactly_with_bronze(bronze: DataFrame, knowledge: Knowledge) -> None:
    inputs = {EVENTS: bronze}
    output = transform(CASE_SLA_DAILY, inputs, DAYS, knowledge=knowledge)
    totals = source_totals(CASE_SLA_DAILY, inputs, DAYS, knowledge=knowledge)
    assert output_totals(CASE_SLA_DAILY, output) == totals
    assert sum(total["cases_opened"] for total in totals) > 20 * len(DAYS)


def test_bronze_reconciles_exactly_with_what_was_landed(
    spark: SparkSession, landing: Path, bronze: DataFrame
) -> None:
    landed = spark.read.schema(LANDED_TYPES).parquet(str(landing / SOURCE_FOLDER))
    totals = source_totals(CASE_EVENTS, {LANDED: landed}, ARRIVALS)
    assert output_totals(CASE_EVENTS, bronze) == totals


def test_bronze_numbers_exact_copies_and_keeps_its_key(bronze: DataFrame) -> None:
    assert bronze.where("delivery > 1").count() > 10
    assert bronze.select(*CASE_EVENTS.keys).distinct().count() == bronze.count()


def test_conflicting_copies_break_the_key_of_bronze(spark: SparkSession, tmp_path: Path) -> None:
    day = DayRange.of_day(date(2025, 1, 10))
    land_days(tmp_path, day, seed=11, events_per_day=1_000)
    poison_day(tmp_path, day.start, "duplicate_keys")
    landed = spark.read.schema(LANDED_TYPES).parquet(str(tmp_path / SOURCE_FOLDER))
    loaded = transform(CASE_EVENTS, {LANDED: landed}, day)
    assert loaded.count() - loaded.select(*CASE_EVENTS.keys).distinct().count() == 25


@pytest.mark.parametrize("knowledge", list(Knowledge))
def test_a_day_is_the_same_in_whatever_chunk_it_is_computed(
    bronze: DataFrame, knowledge: Knowledge
) -> None:
    whole = transform(CASE_SLA_DAILY, {EVENTS: bronze}, DAYS, knowledge=knowledge)
    parts = [
        transform(CASE_SLA_DAILY, {EVENTS: bronze}, part, knowledge=knowledge)
        for part in DAYS.split(4)
    ]
    assert rows_of(whole, *KEY) == rows_of(parts[0].unionAll(parts[1]), *KEY)


def test_the_old_version_errs_only_where_the_zone_matters(
    bronze: DataFrame, silver: DataFrame
) -> None:
    old = rows_of(transform(CASE_SLA_DAILY, {EVENTS: bronze}, DAYS, version="2.4.1"), *KEY)
    new = rows_of(silver, *KEY)
    of_zone = {"opened_on", "due_at", "paused_business_days", "paused_seconds", "state"}
    of_zone |= {"is_breached", "breach_at"}
    differing = {
        name for before, after in zip(old, new, strict=True) for name in before
        if before[name] != after[name]
    }  # fmt: skip
    assert {"opened_on", "due_at", "is_breached"} <= differing <= of_zone


def test_winter_in_london_hides_the_defect(bronze: DataFrame, silver: DataFrame) -> None:
    old = transform(CASE_SLA_DAILY, {EVENTS: bronze}, DAYS, version="2.4.1")
    in_london = F.col("jurisdiction") == "GB-LN"
    assert rows_of(old.where(in_london), *KEY) == rows_of(silver.where(in_london), *KEY)


def test_computing_twice_gives_the_same_rows(bronze: DataFrame, silver: DataFrame) -> None:
    again = transform(CASE_SLA_DAILY, {EVENTS: bronze}, DAYS)
    assert rows_of(again, *KEY) == rows_of(silver, *KEY)
