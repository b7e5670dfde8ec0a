"""Comparing and reproducing from a launchpad, on real Spark and Delta."""

from collections.abc import Callable
from typing import Any

import dagster as dg
import pytest

from backfill_platform.domain.manifests import Manifest
from backfill_platform.engine.carry_out.staging import stage_chunk
from backfill_platform.engine.carry_out.starting import open_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.records import bundle
from backfill_platform.orchestration.build import assemble
from backfill_platform.orchestration.spark_on_demand import SparkOnDemand
from backfill_platform_tests.orchestration.jobs.conftest import Acted
from backfill_platform_tests.readings import BRONZE, week

DAYS = week(days=3)

Look = Callable[..., Acted]


@pytest.fixture
def staged(platform: Platform, spark, intent) -> Manifest:
    manifest = open_run(platform, intent(BRONZE, DAYS, "staged"))
    stage_chunk(platform, spark, manifest.run_id, DAYS)
    return manifest


@pytest.fixture
def look(platform: Platform, spark, instance: dg.DagsterInstance) -> Look:
    def look(job: str, **config: Any) -> Acted:
        found = assemble(platform, SparkOnDemand(spark_config={})).resolve_job_def(job)
        (op,) = found.graph.node_dict
        said = {"ops": {op: {"config": {"acting_as": "ana", **config}}}}
        result = found.execute_in_process(instance=instance, run_config=said)
        return Acted(result=result, instance=instance)

    return look


def test_comparing_counts_what_a_run_would_change_and_says_who_looked(platform, staged, look):
    acted = look("compare_run", run=staged.run_id, by=["meter"])
    assert "6 rows added, 0 removed, 0 changed, 0 the same" in acted.outcome["outcome"]
    assert acted.outcome["compared: rows added"] == 6
    assert [row["value"] for row in acted.rows("compared: by meter")] == ["a", "b"]
    assert platform.ledger.events(staged.run_id)[-1].actor == "ana"


def test_reproducing_shows_both_ways_and_says_who_looked(platform, staged, look):
    acted = look("reproduce_run", run=staged.run_id)
    assert "it comes out again" in acted.outcome["outcome"]
    assert [row["partitions that differ"] for row in acted.rows("reproduced: ways")] == [0, 0]
    assert bundle(platform, staged.run_id).records()[-1].body["by"] == "ana"
