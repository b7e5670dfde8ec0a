"""What validation takes of a chunk's staging, on the reference domain's own silver table.

Staging is everything that `stage_chunk` does: reading, computing, writing, measuring what was
staged and what its inputs say, judging and keeping the verdicts. Validation is the latter half of
it, done once more on the same chunk in the same warm session.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import TypeVar

from pyspark.sql import SparkSession

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.enforcement.bronze import CASE_EVENTS, FIRST_DAY
from backfill_platform.enforcement.landing.files import land_days
from backfill_platform.enforcement.silver import CASE_SLA_DAILY
from backfill_platform.engine.carry_out.frames import chunk_frames
from backfill_platform.engine.carry_out.measuring import measure_chunk, measure_inputs
from backfill_platform.engine.carry_out.parts import Part
from backfill_platform.engine.carry_out.run_rules import run_rules
from backfill_platform.engine.carry_out.staging import stage_chunk, stage_days
from backfill_platform.engine.carry_out.starting import open_run
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.validator.gates.judging import judge
from backfill_platform.validator.measure_plan import NOTHING_TO_PROTECT
from benchmarks.world import intent, open_world

Found = TypeVar("Found")
EVENTS_A_DAY = 10_000
LANDED = DayRange(FIRST_DAY, FIRST_DAY + timedelta(days=90))
STAGED = DayRange(date(2025, 1, 1), date(2025, 1, 31))
HEADER = "| rows staged | staging | of it measuring | measuring the inputs | gates | share |"


def share_table(spark: SparkSession, folder: Path) -> Iterator[str]:
    """Line by line, as docs/benchmarks.md has it."""
    platform = open_world(folder, catalog="backfill_platform.enforcement.catalog:CATALOG")
    land_days(platform.landing, LANDED, seed=1, events_per_day=EVENTS_A_DAY)
    _publish_bronze(platform, spark)
    former = _stage(platform, spark, None)  # to warm up
    yield HEADER
    yield "|---|---|---|---|---|---|"
    yield _measured(platform, spark, former)


def _publish_bronze(platform: Platform, spark: SparkSession) -> None:
    wanted = intent("bronze", LANDED, CASE_EVENTS.full_name)
    run_id = open_run(platform, wanted).run_id
    stage_days(platform, lambda: spark, run_id, LANDED)
    for days in PartitionSet.of_range(LANDED).split(CASE_EVENTS.chunk_days, CASE_EVENTS.boundary):
        publish_chunk(platform, run_id, days)


def _stage(platform: Platform, spark: SparkSession, former: RunId | None) -> RunId:
    """In place of the former run, which was not published."""
    said = intent(f"after {former}", STAGED)
    wanted = replace(said, table=CASE_SLA_DAILY.full_name, replaces=former)
    run_id = open_run(platform, wanted).run_id
    stage_chunk(platform, spark, run_id, STAGED)
    return run_id


def _measured(platform: Platform, spark: SparkSession, former: RunId) -> str:
    staging, run_id = _timed(lambda: _stage(platform, spark, former))
    manifest = load_manifest(platform, run_id)
    frames, protection = chunk_frames(platform, spark, manifest, STAGED), NOTHING_TO_PROTECT
    part = Part(days=STAGED, frames=frames)
    measuring, staged = _timed(
        lambda: measure_chunk(platform, spark, manifest, STAGED, frames, protection)
    )
    reckoning, source = _timed(lambda: measure_inputs(platform, manifest, [part], protection))
    rules = run_rules(platform, manifest, protection)
    judging, _ = _timed(lambda: judge(STAGED, staged, source, rules))
    cells = (
        f"{sum(one.row_count for one in staged):,}",
        f"{staging:.1f} s",
        f"{measuring:.1f} s",
        f"{reckoning:.1f} s",
        f"{judging:.2f} s",
        f"{(measuring + reckoning + judging) / staging:.0%}",
    )
    return f"| {' | '.join(cells)} |"


def _timed(work: Callable[[], Found]) -> tuple[float, Found]:
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found
