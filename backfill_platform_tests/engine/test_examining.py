"""When a transform's plan is looked at in a launch: before a run is recorded, and once."""

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import SparkSession

from backfill_platform.domain.errors import PlanRefused, TransformNotDeterministic
from backfill_platform.domain.intents import Intent
from backfill_platform.engine.carry_out.examining import examine_intent
from backfill_platform.engine.carry_out.starting import open_run
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform_tests.readings import BRONZE, week


def refuse(intent: Intent) -> None:
    raise TransformNotDeterministic(
        table=intent.table, transform="load-readings/1.0.0", sightings=("`now()` reads the clock",)
    )


def no_spark() -> SparkSession:
    raise AssertionError("Spark was started")


def test_a_launch_whose_transform_is_refused_records_no_run(
    platform: Platform, intent: Callable[..., Any]
) -> None:
    with pytest.raises(
        TransformNotDeterministic, match=r"load-readings/1\.0\.0 does not give bronze"
    ):
        open_run(platform, intent(BRONZE, week(), "launched"), examine=refuse)
    assert platform.ledger.runs() == ()


def test_what_planning_refuses_is_refused_before_spark_is_started(
    platform: Platform, intent: Callable[..., Any]
) -> None:
    with pytest.raises(PlanRefused, match="holds"):
        examine_intent(platform, no_spark, intent(BRONZE, week(days=30), "too much"))


def test_a_chunk_that_joins_a_known_run_is_not_examined_again(
    platform: Platform, intent: Callable[..., Any]
) -> None:
    wanted = intent(BRONZE, week(), "known")
    planned = plan_run(platform, wanted)
    examine_intent(platform, no_spark, wanted)
    assert [run.run_id for run in platform.ledger.runs()] == [planned.run_id]
