"""What comparing a staged run reads, writes and leaves behind, on real Spark and Delta."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable

from backfill_platform.domain.errors import StagingIncomplete
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import ExecutionMode, Knowledge, RunKind
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.engine.carry_out.staging import stage_chunk
from backfill_platform.engine.carry_out.starting import open_run
from backfill_platform.engine.platform import Platform, open_platform
from backfill_platform.engine.publish.comparing import compare_run
from backfill_platform.engine.publish.comparisons import KeptComparison, newest_comparison
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.engine.publish.sampled_rows import largest_rows
from backfill_platform.engine.records import bundle
from backfill_platform.ledger.migrate import migrate
from backfill_platform.settings import load_settings
from backfill_platform_tests.modes import LATEST
from backfill_platform_tests.readings import BRONZE, land, week

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAYS = week(days=3)
CHANGED = DayRange.of_day(date(2025, 1, 2))
NOBODY = Path(__file__).parent.parent / "policies" / "nobody.yaml"


@dataclass(frozen=True)
class Lake:
    platform: Platform
    spark: "SparkSession"
    run_id: Any = None

    def stage(self, table: str, origin: str) -> Manifest:
        manifest = open_run(self.platform, _intent(table, origin))
        assert stage_chunk(self.platform, self.spark, manifest.run_id, DAYS).has_passed
        return manifest

    def publish(self, table: str, origin: str) -> None:
        publish_chunk(self.platform, self.stage(table, origin).run_id, DAYS)

    def compare(self, platform: Platform | None = None, **asked: Any) -> KeptComparison:
        return compare_run(platform or self.platform, self.spark, self.run_id, **asked)

    def rows(self, table: str = BRONZE) -> list[dict[str, Any]]:
        path = self.platform.warehouse.diff_path(table, self.run_id)
        found = DeltaTable(path).to_pyarrow_table().to_pylist()
        return sorted(found, key=lambda row: (row["day"], row["meter"]))

    def lose_files_of(self, *days: date) -> None:
        """Every data file of these partitions, accepted and staged."""
        for folder in self.platform.warehouse.table_path(BRONZE).rglob("day=*"):
            if folder.name in {f"day={day}" for day in days}:
                shutil.rmtree(folder)


def _intent(table: str, origin: str) -> Intent:
    return Intent(
        table=table,
        days=PartitionSet.of_range(DAYS),
        kind=RunKind.BACKFILL,
        mode=ExecutionMode.BACKFILL,
        knowledge=Knowledge.UP_TO_SNAPSHOT,
        reason="tests",
        requested_by="tests",
        origin=origin,
        group_id=origin,
        transform_version="1.0.0",
    )


def open_home(home: Path) -> Platform:
    settings = load_settings(
        home=home, catalog="backfill_platform_tests.modes:DECLARATIONS", governance=NOBODY
    )
    migrate(settings.ledger_url)
    return open_platform(settings)


@pytest.fixture(scope="module")
def restated(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Three days are accepted; a run is staged over them, and differs on the second."""
    home = tmp_path_factory.mktemp("restated")
    lake = Lake(open_home(home), spark)
    land(lake.platform.landing, DAYS)
    lake.publish(BRONZE, "first")
    land(lake.platform.landing, CHANGED, [("a", 5), ("c", 7)])
    staged = lake.stage(BRONZE, "second")
    lake.platform.ledger.close()
    return home, staged.run_id


@pytest.fixture
def lake(spark: "SparkSession", restated: tuple[Path, str], tmp_path: Path) -> Iterator[Lake]:
    home, run_id = restated
    platform = open_home(shutil.copytree(home, tmp_path / "home"))
    yield Lake(platform, spark, run_id)
    platform.ledger.close()


def test_partitions_that_equal_the_accepted_ones_are_not_read(lake: Lake) -> None:
    lake.lose_files_of(DAYS.start, DAYS.last)
    found = lake.compare().differences
    totals = found.found.totals
    assert (totals.added, totals.removed, totals.changed, totals.unchanged) == (1, 1, 1, 0)
    assert (found.changed_days, found.equal_rows) == (PartitionSet.of_range(CHANGED), 4)
    assert str(found.equal_days) == "2025-01-01, 2025-01-03"


def test_comparing_twice_equals_comparing_once(lake: Lake) -> None:
    first, rows = lake.compare(), lake.rows()
    again = lake.compare()
    assert (again.differences, lake.rows()) == (first.differences, rows)
    assert [row["meter"] for row in rows] == ["a", "b", "c"]


def test_a_kept_comparison_can_be_read_again_without_spark(lake: Lake) -> None:
    compared = lake.compare(by=["meter"], watched=[{"meter": "b", "day": "2025-01-03"}])
    kept = newest_comparison(lake.platform, lake.run_id)
    assert kept == compared
    assert [watched.unchanged for watched in kept.differences.found.watched] == [1]
    shown = largest_rows(lake.platform, kept, 1)
    assert shown is not None
    assert [(row.key["meter"], row.change) for row in shown] == [("c", "ADDED")]


class DyingLedger:
    """A ledger that is lost between the table and the record."""

    def __init__(self, ledger: Any) -> None:
        self._ledger = ledger

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    def record_comparison(self, *_given: Any, **_named: Any) -> bool:
        raise ConnectionError("the ledger is gone")


def test_a_comparison_that_died_before_its_record_is_none_and_the_next_one_is_whole(
    lake: Lake,
) -> None:
    dying: Any = DyingLedger(lake.platform.ledger)
    with pytest.raises(ConnectionError):
        lake.compare(replace(lake.platform, ledger=dying), by=["meter"])
    with pytest.raises(StagingIncomplete, match="No comparison of run"):
        newest_comparison(lake.platform, lake.run_id)
    compared = lake.compare()
    assert newest_comparison(lake.platform, lake.run_id) == compared
    assert (compared.version, len(lake.rows())) == (1, 3)


def test_a_record_names_the_rows_that_its_comparison_found(lake: Lake) -> None:
    lake.compare(watched=[{"meter": "b"}])
    (record,) = [
        one for one in bundle(lake.platform, lake.run_id).records() if one.kind == "comparison"
    ]
    lake.compare()
    named = DeltaTable(record.body["table"]["path"], version=record.body["table"]["version"])
    marks = [one["samples"] for one in named.to_pyarrow_table().to_pylist()]
    assert len([kinds for kinds in marks if "WATCHED" in kinds]) == 3


def test_what_was_published_meanwhile_is_still_compared_with_what_was_there(lake: Lake) -> None:
    before = lake.compare().differences.found
    publish_chunk(lake.platform, lake.run_id, DAYS)
    after = lake.compare()
    assert (after.is_recorded, after.differences.found.totals) == (False, before.totals)


def test_a_key_that_a_merge_deletes_is_gone_for_whoever_reads(
    spark: "SparkSession", tmp_path: Path
) -> None:
    lake = Lake(open_home(tmp_path), spark)
    land(lake.platform.landing, DAYS, [("a", 11), ("b", 11)])
    lake.publish(LATEST, "first")
    land(lake.platform.landing, DAYS, [("a", 20), ("c", 10)])
    merged = replace(lake, run_id=lake.stage(LATEST, "second").run_id)
    totals = merged.compare().differences.found.totals
    assert (totals.added, totals.removed, totals.changed, totals.unchanged) == (0, 3, 0, 3)
    lake.platform.ledger.close()
