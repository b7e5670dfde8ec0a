"""Versions of the output that Spark stages: every reader agrees on them, whatever is done later."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from backfill_platform.domain.intents import Intent
from backfill_platform.domain.modes import ExecutionMode, Knowledge, RunKind, VersionColumn
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.engine.carry_out.frames import chunk_frames
from backfill_platform.engine.carry_out.staging import stage_chunk
from backfill_platform.engine.carry_out.starting import open_run
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform, open_platform
from backfill_platform.engine.publish.comparing import compare_run
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.lakehouse.latest import latest_dataset, latest_frame, latest_view_sql
from backfill_platform.ledger.migrate import migrate
from backfill_platform.settings import load_settings
from backfill_platform_tests.delta_reader import latest_of_each, read_table
from backfill_platform_tests.modes import DATED, DATED_SUMS
from backfill_platform_tests.readings import land, week

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DAYS = week(days=3)
SECOND = week(date(2025, 1, 2), days=1)
JUNE, JULY = "2026-06-30", "2026-07-01"
NOBODY = Path(__file__).parent.parent / "policies" / "nobody.yaml"
COLUMNS = ["as_of_date", "day", "meter", "amount"]

ORIGINAL = [(JUNE, str(day), "a", 1) for day in DAYS]
REPROCESSED = [(JULY, "2025-01-02", "a", 10), (JULY, "2025-01-02", "b", 20)]
LATEST = sorted([*(row for row in ORIGINAL if row[1] != "2025-01-02"), *REPROCESSED])

Rows = list[tuple[str, str, str, int]]


def open_home(home: Path) -> Platform:
    settings = load_settings(
        home=home, catalog="backfill_platform_tests.modes:DECLARATIONS", governance=NOBODY
    )
    migrate(settings.ledger_url)
    return replace(open_platform(settings), clock=lambda: datetime(2026, 7, 4, tzinfo=UTC))


def intent(origin: str, days=DAYS, *, table: str = DATED, as_of: str | None = None) -> Intent:
    return Intent(
        table=table,
        days=PartitionSet.of_range(days),
        kind=RunKind.BACKFILL,
        mode=ExecutionMode.BACKFILL,
        knowledge=Knowledge.UP_TO_SNAPSHOT,
        reason="tests",
        requested_by="tests",
        origin=origin,
        group_id=origin,
        as_of=date.fromisoformat(as_of) if as_of else None,
    )


@pytest.fixture(scope="module")
def reprocessed(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three days as of June, the second of them again as of July, and compared before that."""
    home = tmp_path_factory.mktemp("versions")
    platform = open_home(home)
    land(platform.landing, DAYS, [("a", 1)])
    run_chunk(platform, spark, intent("first", as_of=JUNE))
    land(platform.landing, SECOND, [("a", 10), ("b", 20)])
    run_chunk(platform, spark, intent("second", SECOND, as_of=JULY))
    platform.ledger.close()
    return home


def run_chunk(platform: Platform, spark: "SparkSession", asked: Intent) -> None:
    manifest = open_run(platform, asked)
    assert stage_chunk(platform, spark, manifest.run_id, asked.days.span).has_passed
    publish_chunk(platform, manifest.run_id, asked.days.span)


@pytest.fixture
def lake(reprocessed: Path, tmp_path: Path) -> Iterator[Platform]:
    platform = open_home(shutil.copytree(reprocessed, tmp_path / "home"))
    yield platform
    platform.ledger.close()


def target_of(platform: Platform) -> Path:
    return platform.warehouse.table_path(DATED)


def of_frame(frame: "DataFrame") -> Rows:
    return sorted(
        (str(row["as_of_date"]), str(row["day"]), row["meter"], row["amount"])
        for row in frame.select(*COLUMNS).collect()
    )


def of_rows(rows: list[dict]) -> Rows:
    return sorted(
        (str(row["as_of_date"]), str(row["day"]), row["meter"], row["amount"]) for row in rows
    )


def views(spark: "SparkSession", path: Path, *, up_to: str | None = None) -> list[Rows]:
    """Of Spark, of delta-rs, and of a reader that shares nothing with them."""
    known = [row for row in read_table(path) if up_to is None or str(row["as_of_date"]) <= up_to]
    return [
        of_frame(latest_frame(spark, path, up_to=up_to)),
        of_rows(latest_dataset(path, up_to=up_to).to_table().to_pylist()),
        of_rows(latest_of_each(known, "day", "as_of_date")),
    ]


def test_three_readers_agree_on_the_latest_view(spark: "SparkSession", lake: Platform) -> None:
    assert views(spark, target_of(lake)) == [LATEST] * 3


def test_three_readers_agree_on_an_older_version(spark: "SparkSession", lake: Platform) -> None:
    assert views(spark, target_of(lake), up_to=JUNE) == [ORIGINAL] * 3


def test_original_and_reprocessed_lie_side_by_side_in_spark(
    spark: "SparkSession", lake: Platform
) -> None:
    frame = spark.read.format("delta").load(str(target_of(lake)))
    assert of_frame(frame) == sorted(ORIGINAL + REPROCESSED)


def test_the_view_in_sql_shows_the_latest_in_spark(spark: "SparkSession", lake: Platform) -> None:
    table = f"delta.`{target_of(lake)}`"
    spark.sql(latest_view_sql(table, "day", VersionColumn.AS_OF_DATE, view="latest_dated"))
    assert of_frame(spark.table("latest_dated")) == LATEST
    spark.sql("DROP VIEW latest_dated")


def test_spark_opens_no_file_of_a_version_that_is_not_seen(
    spark: "SparkSession", lake: Platform
) -> None:
    opened = [Path(file).parent for file in latest_frame(spark, target_of(lake)).inputFiles()]
    assert sorted({f"{folder.parent.name}/{folder.name}" for folder in opened}) == [
        f"day=2025-01-01/as_of_date={JUNE}",
        f"day=2025-01-02/as_of_date={JULY}",
        f"day=2025-01-03/as_of_date={JUNE}",
    ]


def test_a_transform_reads_what_was_seen_when_it_was_planned(
    spark: "SparkSession", lake: Platform
) -> None:
    manifest = plan_run(lake, intent("sums", table=DATED_SUMS))
    land(lake.landing, DAYS, [("c", 7)])
    run_chunk(lake, spark, intent("third", SECOND))
    assert of_frame(chunk_frames(lake, spark, manifest, DAYS).inputs[DATED]) == LATEST


def test_a_comparison_is_made_with_what_is_seen(spark: "SparkSession", lake: Platform) -> None:
    land(lake.landing, SECOND, [("a", 11), ("b", 20)])
    manifest = open_run(lake, intent("third", SECOND))
    stage_chunk(lake, spark, manifest.run_id, SECOND)
    total = compare_run(lake, spark, manifest.run_id).differences.found.totals
    assert (total.added, total.removed, total.changed, total.unchanged) == (0, 0, 1, 1)


def test_optimize_and_vacuum_change_nothing_for_any_reader(
    impatient: "SparkSession", lake: Platform
) -> None:
    path = target_of(lake)
    impatient.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (meter)")
    impatient.sql(f"VACUUM delta.`{path}` RETAIN 0 HOURS")
    assert views(impatient, path) == [LATEST] * 3
    assert views(impatient, path, up_to=JUNE) == [ORIGINAL] * 3


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
