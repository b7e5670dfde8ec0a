"""The limit: the same three transforms by plain PySpark, one job for each table, and no control.

As a script it does the range again and again, each time into another folder, and says each time
that it is done: the first time is cold, the others are warm. `--by-day` does what many do instead,
one day after the other. `--classes-prepared` starts Spark with the platform's archive of classes,
and `--writes-alike` writes files as the platform does.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from backfill_platform.cli.environment import enter_project
from backfill_platform.domain.modes import ExecutionMode, Knowledge
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.transforms import Frames, InputWindow, TransformContext
from backfill_platform.enforcement.bronze import CASE_EVENTS_LANDING, LANDED, load_case_events
from backfill_platform.enforcement.gold import CASES, sla_breaches_daily
from backfill_platform.enforcement.jurisdiction_calendar import load_calendar
from backfill_platform.enforcement.reference.editions import RESTATED, calendar_path
from backfill_platform.enforcement.sla.case_days import (
    CALENDAR,
    EVENTS,
    case_sla,
    zone_of_jurisdiction,
)
from backfill_platform.lakehouse.jars import jar_paths
from backfill_platform.lakehouse.java import find_java
from backfill_platform.lakehouse.session import (
    WRITING,
    session_config,
    start_local_session,
)
from backfill_platform.settings import Settings, enter_environment, load_settings
from backfill_platform.validator.contract import read_contract, spark_schema

BREACHES = "gold.sla_breaches_daily"
DAY_COLUMNS = {EVENTS: "arrival_date", CASES: "business_date", BREACHES: "business_date"}

_EVENTS_WINDOW = InputWindow(before_days=45, after_days=30)
_CASES_WINDOW = InputWindow(before_days=1, after_days=0)


def load_bronze(spark: SparkSession, landing: Path, warehouse: Path, days: DayRange) -> None:
    schema = spark_schema(read_contract(CASE_EVENTS_LANDING.schema))
    root = landing / CASE_EVENTS_LANDING.path
    landed = spark.read.schema(schema).parquet(str(root)).where(_within(EVENTS, days))
    frames = Frames(inputs={LANDED: landed}, references={})
    _write(load_case_events(frames, _context(days, {})), warehouse, EVENTS, days)


def compute_silver(spark: SparkSession, warehouse: Path, days: DayRange) -> None:
    frames = Frames(
        inputs={EVENTS: _read(spark, warehouse, EVENTS, days, _EVENTS_WINDOW)},
        references={CALENDAR: load_calendar(calendar_path(RESTATED))},
    )
    compute = case_sla(zone_of_jurisdiction)
    _write(compute(frames, _context(days, {EVENTS: _EVENTS_WINDOW})), warehouse, CASES, days)


def compute_gold(spark: SparkSession, warehouse: Path, days: DayRange) -> None:
    cases = _read(spark, warehouse, CASES, days, _CASES_WINDOW)
    frames = Frames(inputs={CASES: cases}, references={})
    rows = sla_breaches_daily(frames, _context(days, {CASES: _CASES_WINDOW}))
    _write(rows, warehouse, BREACHES, days)


def do_range(spark: SparkSession, landing: Path, warehouse: Path, days: DayRange) -> None:
    load_bronze(spark, landing, warehouse, days)
    compute_silver(spark, warehouse, days)
    compute_gold(spark, warehouse, days)


def start_spark(
    settings: Settings, *, has_classes_prepared: bool = False, writes_alike: bool = False
) -> SparkSession:
    """With the options of the platform, so that nobody wins by one of them; but by the Java that is
    there for everybody, where nobody has prepared Spark's classes, and with files as Spark writes
    them, unless asked."""
    enter_project(settings)
    if not has_classes_prepared:
        java = find_java(java_home=settings.java_home, search_path=settings.search_path)
        enter_environment({"JAVA_HOME": str(java.executable.parents[1])})
    config = session_config(
        jar_paths(settings.cache_dir), driver_memory=settings.spark_driver_memory
    )
    return start_local_session(config if writes_alike else without_writing(config), name="raw")


def without_writing(config: Mapping[str, str]) -> dict[str, str]:
    """How files are written is the platform's own; see docs/adr/0021."""
    return {name: value for name, value in config.items() if name not in WRITING}


def _context(days: DayRange, windows: dict[str, InputWindow]) -> TransformContext:
    return TransformContext(
        run_id="raw",
        mode=ExecutionMode.BACKFILL,
        knowledge=Knowledge.UP_TO_SNAPSHOT,
        reason="a benchmark",
        run_started_at=datetime(2026, 1, 1, tzinfo=UTC),
        transform_name="raw",
        transform_version="1.0.0",
        config_hash="",
        publish_days=days,
        windows=windows,
        reference_versions={},
    )


def _read(
    spark: SparkSession, warehouse: Path, table: str, days: DayRange, window: InputWindow
) -> DataFrame:
    wanted = days.widen(before_days=window.before_days, after_days=window.after_days)
    return spark.read.format("delta").load(_path(warehouse, table)).where(_within(table, wanted))


def _write(rows: DataFrame, warehouse: Path, table: str, days: DayRange) -> None:
    column = DAY_COLUMNS[table]
    replaced = f"{column} >= DATE'{days.start}' AND {column} <= DATE'{days.last}'"
    writer = rows.write.format("delta").partitionBy(column).mode("overwrite")
    writer.option("replaceWhere", replaced).save(_path(warehouse, table))


def _path(warehouse: Path, table: str) -> str:
    return str(warehouse.joinpath(*table.split(".")))


def _within(table: str, days: DayRange) -> Column:
    return F.col(DAY_COLUMNS[table]).between(days.start, days.last)


def _parts(days: DayRange, *, by_day: bool) -> Iterator[DayRange]:
    """Day by day, a day sees of later ones what is there: nothing. So all of a table goes first."""
    yield from (DayRange.of_day(day) for day in days) if by_day else (days,)


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("landing", type=Path)
    asked.add_argument("warehouses", type=Path)
    asked.add_argument("first", type=date.fromisoformat)
    asked.add_argument("last", type=date.fromisoformat)
    asked.add_argument("--rounds", type=int, default=1)
    asked.add_argument("--by-day", action="store_true")
    asked.add_argument("--classes-prepared", action="store_true")
    asked.add_argument("--writes-alike", action="store_true")
    given = asked.parse_args()
    days = DayRange.closed(given.first, given.last)
    spark = start_spark(
        load_settings(),
        has_classes_prepared=given.classes_prepared,
        writes_alike=given.writes_alike,
    )
    for number in range(given.rounds):
        warehouse = given.warehouses / str(number)
        done: list[str] = []
        for table, work in _WORK.items():
            for part in _parts(days, by_day=given.by_day):
                work(spark, given.landing, warehouse, part)
            done.append(table)
        _tell(number, done)
    spark.stop()


_WORK = {
    EVENTS: load_bronze,
    CASES: lambda spark, _, warehouse, days: compute_silver(spark, warehouse, days),
    BREACHES: lambda spark, _, warehouse, days: compute_gold(spark, warehouse, days),
}


def _tell(number: int, done: Sequence[str]) -> None:
    print(json.dumps({"round": number, "tables": done}), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
