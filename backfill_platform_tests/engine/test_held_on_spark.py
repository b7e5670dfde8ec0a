"""A run that Spark computes is held against what is accepted, whoever wrote that."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from pyspark.sql import SparkSession

from backfill_platform.domain.errors import ApprovalMissing
from backfill_platform.domain.lifecycle import ChunkStatus, RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.domain.privacy import Protection
from backfill_platform.domain.verdicts import Gate, Outcome
from backfill_platform.engine.carry_out.accepted_figures import accepted_figures
from backfill_platform.engine.carry_out.run_rules import run_rules
from backfill_platform.engine.carry_out.staging import StagedChunk, stage_days
from backfill_platform.engine.carry_out.starting import open_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform_tests.engine.by_hand import write_rows
from backfill_platform_tests.readings import BRONZE, START, land, week

DAYS = week(days=3)
LAST = DAYS.last
FEWER = (("a", 1),)
MORE = (("a", 1), ("b", 2), ("c", 2), ("c", 3), ("c", 4), ("c", 5))


@pytest.fixture
def declared() -> str:
    return "backfill_platform_tests.held_readings:DECLARATIONS"


def stage(platform: Platform, spark: SparkSession, intent: Callable[..., Any], origin: str):
    manifest = open_run(platform, intent(BRONZE, DAYS, origin))
    return stage_days(platform, lambda: spark, manifest.run_id, DAYS)


def straying(chunk: StagedChunk) -> dict[tuple[Gate, date], Outcome]:
    return {
        (verdict.gate, verdict.day): verdict.outcome
        for verdict in chunk.verdicts
        if not verdict.has_passed
    }


def figures(
    platform: Platform, spark: SparkSession, manifest: Manifest
) -> dict[date, PartitionMeasurement | None]:
    rules = run_rules(platform, manifest, Protection())
    return accepted_figures(platform, spark, manifest, DAYS, rules)


def test_what_falls_too_far_is_held_and_what_came_late_is_warned_of(
    platform: Platform, spark: SparkSession, intent: Callable[..., Any]
) -> None:
    first = stage(platform, spark, intent, "first")
    publish_chunk(platform, first.manifest.run_id, DAYS)
    land(platform.landing, [START], FEWER)
    land(platform.landing, [LAST], MORE)
    again = stage(platform, spark, intent, "again")
    assert straying(first) == {}
    assert straying(again) == {
        (Gate.CHANGE_EXPECTED, START): Outcome.HELD,
        (Gate.KEY_UNIQUE, LAST): Outcome.FAILED,
        (Gate.CHANGE_EXPECTED, LAST): Outcome.HELD,
        (Gate.LATE_DATA, LAST): Outcome.WARNED,
    }


def test_a_held_chunk_is_staged_to_its_end_and_waits(
    platform: Platform, spark: SparkSession, intent: Callable[..., Any]
) -> None:
    publish_chunk(platform, stage(platform, spark, intent, "first").manifest.run_id, DAYS)
    land(platform.landing, [START], FEWER)
    held = stage(platform, spark, intent, "again").manifest
    assert [chunk.status for chunk in platform.ledger.chunks(held.run_id)] == [
        ChunkStatus.VALIDATED
    ]
    assert platform.ledger.run(held.run_id).state is RunState.AWAITING_PUBLISH
    with pytest.raises(ApprovalMissing, match="row_count fell by 50") as refused:
        publish_chunk(platform, held.run_id, DAYS)
    assert f"backfill review {held.run_id}" in str(refused.value)


def test_accepted_rows_are_measured_again_where_the_ledger_has_no_figures_of_them(
    platform: Platform, spark: SparkSession, intent: Callable[..., Any]
) -> None:
    publish_chunk(platform, stage(platform, spark, intent, "first").manifest.run_id, DAYS)
    write_rows(platform.warehouse.table_path(BRONZE), {LAST: ("c",)}, run_id="nobody")
    manifest = open_run(platform, intent(BRONZE, DAYS, "again"))
    declared_otherwise = replace(manifest.validation, quality_digest="other")
    remembered = figures(platform, spark, manifest)
    measured = figures(platform, spark, replace(manifest, validation=declared_otherwise))
    assert remembered[LAST] == measured[LAST]
    assert _content(measured[START]) == _content(remembered[START])
    assert _content(measured[LAST])[0] == 3


def _content(one: PartitionMeasurement | None) -> tuple[Any, ...]:
    assert one is not None
    return one.row_count, one.checksum, one.measures, one.by_dimension
