"""Spark reads what delta-rs published, and publishes through it what Spark has staged."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable

from backfill_platform.domain.errors import UnsupportedTable
from backfill_platform.domain.publications import AlreadyPublished
from backfill_platform.lakehouse.delta_tables import (
    create_staging_table,
    create_table,
    read_table_state,
    staged_files,
)
from backfill_platform.lakehouse.staged_statistics import log_statistics
from backfill_platform.publisher.replace_partitions import publish
from backfill_platform_tests.publisher.lives import LIVES
from backfill_platform_tests.publisher.tables import (
    CONTRACT,
    FIRST,
    RUN,
    Lake,
    Row,
    append,
    days,
    frame,
    read_rows,
    rows_of,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


SPARK_SCHEMA = """
    id string, business_date date, total long, produced_by_run_id string, transform_version string,
    input_snapshot string, processing_mode string, reference_data_version string
"""
TWO_DAYS = "business_date >= DATE'2025-01-01' AND business_date < DATE'2025-01-03'"


def spark_rows(spark: "SparkSession", path: Path) -> list[Row]:
    table = spark.read.format("delta").load(str(path))
    return sorted(tuple(row) for row in table.select("business_date", "id", "total").collect())


def stage_with_spark(spark: "SparkSession", lake: Lake, rows: Iterable[Row], where: str) -> Path:
    staging = lake.staging(1)
    create_staging_table(staging, CONTRACT, partition_column="business_date")
    write_with_spark(spark, staging, rows, where)
    log_statistics(staging)  # as staging does, whoever wrote
    return staging


def write_with_spark(spark: "SparkSession", path: Path, rows: Iterable[Row], where: str) -> None:
    staged = spark.createDataFrame(frame(rows, RUN.format(1)).to_pandas(), schema=SPARK_SCHEMA)
    staged.write.format("delta").mode("overwrite").option("replaceWhere", where).save(str(path))


def files_scanned(spark: "SparkSession", path: Path, condition: str) -> int:
    """How many files Spark's own plan says it read."""
    scan: Any = spark.read.format("delta").load(str(path)).where(condition)
    plan = scan._jdf.queryExecution().executedPlan()
    plan.executeCollect()
    metric = plan.collectLeaves().head().metrics().get("numFiles")
    return metric.get().value()


def test_spark_and_delta_rs_read_the_same_rows(spark: "SparkSession", lake: Lake) -> None:
    append(lake.target, rows_of("live", days(0, 4)))
    staging = stage_with_spark(spark, lake, rows_of("run1", days(0, 2), per_day=50), TWO_DAYS)
    publish(lake.target, staging, lake.review(1, days(0, 2)))
    expected = sorted(rows_of("run1", days(0, 2), per_day=50) + rows_of("live", days(2, 2)))
    assert spark_rows(spark, lake.target) == expected
    assert read_rows(lake.target) == expected


@pytest.mark.parametrize("live", LIVES, ids=lambda live: live.__name__)
def test_three_readers_agree_whatever_became_of_the_table(
    spark: "SparkSession", lake: Lake, live: Callable[[Lake], None]
) -> None:
    """`read_rows` holds delta-rs and the third reader against each other."""
    live(lake)
    assert spark_rows(spark, lake.target) == read_rows(lake.target) != []


def test_a_repeated_publication_does_not_blank_the_partition_for_spark(
    spark: "SparkSession", lake: Lake
) -> None:
    staging = lake.stage(1, rows_of("run1", days(0, 2)))
    publication = lake.review(1, days(0, 2))
    publish(lake.target, staging, publication)
    again = replace(lake.review(1, days(0, 2)), publication_id="another", files=publication.files)
    assert publish(lake.target, staging, again) == AlreadyPublished(version=1)
    assert spark_rows(spark, lake.target) == rows_of("run1", days(0, 2))


def test_staged_statistics_survive_publication(spark: "SparkSession", lake: Lake) -> None:
    staging = stage_with_spark(spark, lake, rows_of("run1", days(0, 2), per_day=50), TWO_DAYS)
    publish(lake.target, staging, lake.review(1, days(0, 2)))
    staged = {file.day: json.loads(file.statistics or "") for file in staged_files(staging, None)}
    published = staged_files(lake.target, None)
    assert {file.day: json.loads(file.statistics or "") for file in published} == staged
    assert staged[FIRST]["numRecords"] == 50
    assert (staged[FIRST]["minValues"]["total"], staged[FIRST]["maxValues"]["total"]) == (0, 49)


def test_both_readers_skip_files_by_the_published_statistics(
    spark: "SparkSession", lake: Lake
) -> None:
    rows: list[Row] = [(FIRST, "small", 1), (date(2025, 1, 2), "large", 1000)]
    staging = stage_with_spark(spark, lake, rows, TWO_DAYS)
    publish(lake.target, staging, lake.review(1, days(0, 2)))
    fragments = (
        DeltaTable(lake.target).to_pyarrow_dataset().get_fragments(filter=pc.field("total") > 500)
    )
    assert len(list(fragments)) == 1
    assert files_scanned(spark, lake.target, "total > 500") == 1


def test_history_in_spark_names_the_run(spark: "SparkSession", lake: Lake) -> None:
    staging = lake.stage(1, rows_of("run1", days(0, 1)))
    publish(lake.target, staging, lake.review(1, days(0, 1)))
    latest = spark.sql(f"DESCRIBE HISTORY delta.`{lake.target}` LIMIT 1").collect()[0]
    assert (latest["version"], latest["operation"]) == (1, "WRITE")
    assert json.loads(latest["userMetadata"])["run_id"] == RUN.format(1)


def test_spark_writes_into_a_created_table(spark: "SparkSession", lake: Lake) -> None:
    write_with_spark(spark, lake.target, rows_of("one", days(0, 2)), TWO_DAYS)
    write_with_spark(spark, lake.target, rows_of("two", days(0, 2)), TWO_DAYS)
    assert spark_rows(spark, lake.target) == rows_of("two", days(0, 2))
    state = read_table_state(lake.target, None)
    assert state is not None
    assert set(state.row_counts.values()) == {2}


def test_a_table_that_spark_has_raised_is_refused(spark: "SparkSession", tmp_path: Path) -> None:
    create_table(tmp_path, CONTRACT, partition_column="business_date")
    spark.sql(
        f"ALTER TABLE delta.`{tmp_path}` SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    )
    with pytest.raises(UnsupportedTable, match="deletionVectors"):
        read_table_state(tmp_path, None)


@pytest.fixture
def impatient(spark: "SparkSession") -> Iterator["SparkSession"]:
    """VACUUM without retention, and in few tasks: by default it lists folders in thousands."""
    settings = {
        "spark.databricks.delta.retentionDurationCheck.enabled": "false",
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    }
    for key, value in settings.items():
        spark.conf.set(key, value)
    yield spark
    for key in settings:
        spark.conf.unset(key)


def test_spark_vacuum_loses_no_published_row(impatient: "SparkSession", lake: Lake) -> None:
    append(lake.target, rows_of("live", days(0, 3)))
    staging = stage_with_spark(impatient, lake, rows_of("run1", days(0, 2)), TWO_DAYS)
    publish(lake.target, staging, lake.review(1, days(0, 2)))
    expected = read_rows(lake.target)
    impatient.sql(f"VACUUM delta.`{lake.target}` RETAIN 0 HOURS")
    assert spark_rows(impatient, lake.target) == expected
    assert read_rows(lake.target) == expected
