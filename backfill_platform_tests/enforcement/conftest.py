"""One generated world, loaded by the declared bronze transform and shared by the tests here."""

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from backfill_platform.enforcement.bronze import CASE_EVENTS, LANDED
from backfill_platform.enforcement.landing.files import SOURCE_FOLDER, land_days
from backfill_platform.enforcement.silver import CASE_SLA_DAILY, EVENTS
from backfill_platform_tests.enforcement.running import ARRIVALS, DAYS, LANDED_TYPES, transform


@pytest.fixture(scope="session")
def landing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("landing")
    land_days(root, ARRIVALS, seed=11, events_per_day=400)
    return root


@pytest.fixture(scope="session")
def bronze(
    spark: SparkSession, landing: Path, tmp_path_factory: pytest.TempPathFactory
) -> DataFrame:
    landed = spark.read.schema(LANDED_TYPES).parquet(str(landing / SOURCE_FOLDER))
    loaded = transform(CASE_EVENTS, {LANDED: landed}, ARRIVALS)
    stored = str(tmp_path_factory.mktemp("bronze") / "case_events")
    loaded.coalesce(2).write.parquet(stored)
    return spark.read.parquet(stored)


@pytest.fixture(scope="session")
def silver(
    spark: SparkSession, bronze: DataFrame, tmp_path_factory: pytest.TempPathFactory
) -> DataFrame:
    stored = str(tmp_path_factory.mktemp("silver") / "case_sla_daily")
    transform(CASE_SLA_DAILY, {EVENTS: bronze}, DAYS).coalesce(2).write.parquet(stored)
    return spark.read.parquet(stored)
