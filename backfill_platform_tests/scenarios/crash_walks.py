"""What a child process does until it is killed, and the home in which it does so.

Each walk may be walked again from its beginning: that is how somebody would go on after a crash.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backfill_platform.domain.clock import utc_now
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import ExecutionMode, Knowledge, RunKind
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.engine.carry_out.starting import open_run
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform, open_platform
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.ledger.migrate import migrate
from backfill_platform.planner.rollback_facts import RollbackRequest
from backfill_platform.settings import enter_environment, load_settings
from backfill_platform_tests.engine.by_hand import run_by_hand, stage_by_hand
from backfill_platform_tests.modes import LATEST, NUMBERED, ONCE, SWAPPED, WHOLE
from backfill_platform_tests.readings import BRONZE, land, week

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOBODY = Path(__file__).parent.parent / "policies" / "nobody.yaml"
FIRST, LAST = week(days=2), DayRange.of_day(date(2025, 1, 3))
ALL = week(days=3)
WEEK = week()
StartSpark = Callable[[], "SparkSession"]


@dataclass(frozen=True)
class Walk:
    """`prepare` makes the home once; copies of it are what the walk begins in."""

    name: str
    prepare: Callable[[Platform], None]
    take: Callable[[Platform, StartSpark], None]
    table: str = BRONZE
    clock: Callable[[], datetime] = utc_now  # of whoever recovers it


def open_home(home: Path, **given: Any) -> Platform:
    settings = load_settings(
        home=home, catalog="backfill_platform_tests.modes:DECLARATIONS", governance=NOBODY
    )
    migrate(settings.ledger_url)
    return open_platform(settings, **given)


def plan(platform: Platform, origin: str, days: DayRange, table: str = BRONZE) -> Manifest:
    return plan_run(platform, _intent(origin, days, table))


def run_of(platform: Platform, origin: str) -> RunId:
    record = platform.ledger.run_by_origin(origin)
    assert record is not None, "the home is prepared first"
    return record.run_id


def _intent(origin: str, days: DayRange, table: str = BRONZE) -> Intent:
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
        computes_all=True,  # rows that are staged by hand are not what the inputs give
    )


def _staged(platform: Platform) -> None:
    """Two runs are published; a third would replace the first of them, and change nothing of the
    second. Its partitions are staged and judged."""
    land(platform.landing, ALL)
    run_by_hand(platform, plan(platform, "first", FIRST), dict.fromkeys(FIRST, ("a",)))
    run_by_hand(platform, plan(platform, "second", LAST), dict.fromkeys(LAST, ("c",)))
    rows = {**dict.fromkeys(FIRST, ("a", "b")), **dict.fromkeys(LAST, ("c",))}
    stage_by_hand(platform, plan(platform, "third", ALL), rows)


def _staged_in(table: str, platform: Platform) -> None:
    """One run is published, where the table may hold something before another comes; the next one
    changes all but the last of its days."""
    land(platform.landing, ALL)
    if table != ONCE:
        run_by_hand(platform, plan(platform, "first", ALL, table), dict.fromkeys(ALL, ("1",)))
    rows = {**dict.fromkeys(FIRST, ("1", "2")), **dict.fromkeys(LAST, ("1",))}
    stage_by_hand(platform, plan(platform, "third", ALL, table), rows)


def _published(stage: Callable[[Platform], None], platform: Platform) -> None:
    stage(platform)
    publish_chunk(platform, run_of(platform, "third"), ALL)


def _landed(platform: Platform) -> None:
    land(platform.landing, WEEK)


def _publish(platform: Platform, _spark: StartSpark) -> None:
    publish_chunk(platform, run_of(platform, "third"), ALL)


def _roll_back(platform: Platform, _spark: StartSpark) -> None:
    undone = run_of(platform, "third")
    request = RollbackRequest(run_id=undone, days=None, reason="tests", requested_by="tests")
    roll_back(platform, plan_rollback(platform, request).run_id)


def _walk_whole_road(platform: Platform, spark: StartSpark) -> None:
    """From the plan to the last of two publications."""
    from backfill_platform.engine.carry_out.staging import stage_chunk

    manifest = open_run(platform, _intent("whole", WEEK))
    for days in manifest.chunks:
        stage_chunk(platform, spark(), manifest.run_id, days)
    for days in manifest.chunks:
        publish_chunk(platform, manifest.run_id, days)


def _later() -> datetime:
    return utc_now() + timedelta(minutes=10)


def start_session(home: Path) -> "SparkSession":
    from backfill_platform.lakehouse.jars import jar_paths
    from backfill_platform.lakehouse.java import find_java, provide_java_home
    from backfill_platform.lakehouse.session import session_config, start_local_session

    settings = load_settings(home=home)
    java = find_java(java_home=settings.java_home, search_path=settings.search_path)
    enter_environment(
        {
            "JAVA_HOME": str(provide_java_home(java, settings.cache_dir)),
            "SPARK_LOCAL_IP": settings.host,
            "PYSPARK_PYTHON": sys.executable,
        }
    )
    config = session_config(
        jar_paths(settings.cache_dir), cores=2, warehouse=settings.warehouse, short_lived=True
    )
    return start_local_session(config, master="local[2]", name="crash")


def _in_mode(word: str, table: str) -> tuple[Walk, Walk]:
    staged = partial(_staged_in, table)
    return (
        Walk(f"{word} publication", staged, _publish, table),
        Walk(f"{word} rollback", partial(_published, staged), _roll_back, table),
    )


PUBLICATION = Walk("publication", _staged, _publish)
ROLLBACK = Walk("rollback", partial(_published, _staged), _roll_back)
# By every other way of publishing.
MODES = {
    "append": ONCE,
    "merge": LATEST,
    "versioned": NUMBERED,
    "whole run": WHOLE,
    "swap": SWAPPED,
}
IN_MODES = tuple(walk for word, table in MODES.items() for walk in _in_mode(word, table))
# Whose fence the second of two publications holds cannot be told, so its lease has to end first.
WHOLE_ROAD = Walk("whole road", _landed, _walk_whole_road, clock=_later)
WALKS = {walk.name: walk for walk in (PUBLICATION, ROLLBACK, *IN_MODES, WHOLE_ROAD)}
