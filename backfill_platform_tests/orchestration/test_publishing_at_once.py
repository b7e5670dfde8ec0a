"""A run that becomes visible at once, in Dagster: one run for a range, and no part of it first."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import dagster as dg
import pytest
from dagster_pyspark import PySparkResource
from deltalake import DeltaTable

from backfill_platform.domain.errors import LaunchFailed
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import PublishScope
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform, load_catalog
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.build import assemble
from backfill_platform.orchestration.local_runs import LocalDagster
from backfill_platform_tests.engine.by_hand import stage_by_hand
from backfill_platform_tests.modes import ONCE, SWAPPED, WHOLE
from backfill_platform_tests.readings import BRONZE, week

EARLY, LATE = week(days=2), week(date(2025, 1, 4), days=3)
RANGES = PartitionSet((EARLY, LATE))
PUBLISHED = dg.AssetKey(["silver", "whole"])


@pytest.fixture
def scoped(platform: Platform) -> Platform:
    return replace(platform, catalog=load_catalog("backfill_platform_tests.modes:DECLARATIONS"))


@pytest.fixture
def definitions(scoped: Platform) -> dg.Definitions:
    return assemble(scoped, PySparkResource(spark_config={}))


@pytest.fixture
def dagster(
    scoped: Platform, definitions: dg.Definitions, tmp_path: Path
) -> Iterator[LocalDagster]:
    """Publication needs no Spark, and so it has none."""
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        yield LocalDagster(
            platform=scoped,
            definitions=definitions,
            instance=instance,
            start_spark=lambda: pytest.fail("publication started Spark"),
        )


@pytest.fixture
def staged(scoped: Platform, intent) -> Manifest:
    manifest = plan_run(scoped, replace(intent(WHOLE, RANGES.span, "run"), days=RANGES))
    stage_by_hand(scoped, manifest, dict.fromkeys(RANGES, ("a",)), RANGES.ranges)
    return manifest


@pytest.mark.parametrize(
    ("table", "policy"),
    [
        (WHOLE, dg.BackfillPolicy.single_run()),
        (SWAPPED, dg.BackfillPolicy.single_run()),
        (ONCE, dg.BackfillPolicy.multi_run(5)),
    ],
)
def test_what_becomes_visible_at_once_is_one_dagster_run(definitions, table, policy):
    layer, name = table.split(".")
    graph = definitions.resolve_asset_graph()
    found = {
        graph.get(dg.AssetKey(key)).backfill_policy
        for key in ([layer, name], ["staging", layer, name])
    }
    assert found == {policy}


def test_a_run_with_a_gap_is_published_in_one_commit(dagster: LocalDagster, staged: Manifest):
    dagster.publish_run(staged.run_id)
    table = DeltaTable(dagster.platform.warehouse.table_path(WHOLE))
    assert table.version() == 1
    assert set(table.to_pyarrow_table()["day"].to_pylist()) == set(RANGES)


def test_only_days_of_the_run_are_materialized(dagster: LocalDagster, staged: Manifest):
    dagster.publish_run(staged.run_id)
    records = dagster.instance.fetch_materializations(PUBLISHED, limit=100).records
    assert sorted(str(one.partition_key) for one in records) == [str(day) for day in RANGES]


def test_each_dagster_run_of_the_launch_tells_how_all_of_it_landed(
    dagster: LocalDagster, staged: Manifest
):
    dagster.publish_run(staged.run_id)
    records = dagster.instance.fetch_materializations(PUBLISHED, limit=100).records
    materializations = [one.asset_materialization for one in records]
    told = [one.metadata["partitions changed"].value for one in materializations if one]
    assert told == [len(RANGES)] * len(RANGES)


def test_a_launch_of_a_part_publishes_nothing(dagster: LocalDagster, staged: Manifest):
    spec = dagster.platform.catalog.tables[WHOLE]
    with pytest.raises(LaunchFailed, match=r"leaves out 2025-01-04\.\.2025-01-06"):
        dagster.publish(spec, EARLY, {tags.RUN: staged.run_id})
    assert DeltaTable(dagster.platform.warehouse.table_path(WHOLE)).version() == 0


def test_a_part_of_a_launch_whose_tag_says_whole_run_is_refused_in_its_first_step(
    dagster: LocalDagster, spark
):
    """Of a table that Dagster cuts: the tag comes too late to change that."""
    week_days = week()
    first, _ = week_days.split(5)
    said = {
        tags.REASON: "tests",
        tags.LAUNCH: "1",
        tags.DAYS: str(week_days),
        tags.PUBLISH_SCOPE: "whole-run",
    }
    spec = dagster.platform.catalog.tables[BRONZE]
    with pytest.raises(LaunchFailed, match="Launch the staging asset alone"):
        dagster.stage_and_publish(spec, first, said)
    (run,) = dagster.platform.ledger.runs()
    assert (run.state, dagster.platform.ledger.chunks(run.run_id)) == (RunState.PLANNED, ())


def test_a_range_of_a_table_that_says_whole_run_is_staged_and_published_in_one_launch(
    dagster: LocalDagster, spark
):
    spec = dagster.platform.catalog.tables[WHOLE]
    dagster.stage_and_publish(spec, week(), {tags.REASON: "tests"})
    (run,) = dagster.platform.ledger.runs()
    assert run.state is RunState.PUBLISHED
    assert len(dagster.platform.ledger.chunks(run.run_id)) == 2, "the engine cuts it"
    assert DeltaTable(dagster.platform.warehouse.table_path(WHOLE)).version() == 1


def test_a_launch_says_as_of_which_day_and_which_schema_changes_it_accepts(
    dagster: LocalDagster, spark
):
    said = {tags.REASON: "tests", tags.PUBLISH_SCOPE: "dark", tags.AS_OF: "2025-13-01"}
    spec = dagster.platform.catalog.tables[BRONZE]
    with pytest.raises(LaunchFailed, match=r"backfill/as_of` is '2025-13-01'.*2025-01-31"):
        dagster.stage(spec, EARLY, said)


def test_a_launch_may_stage_a_candidate(dagster: LocalDagster, spark):
    spec = dagster.platform.catalog.tables[BRONZE]
    dagster.stage(spec, EARLY, {tags.REASON: "tests", tags.PUBLISH_SCOPE: "dark"})
    (run,) = dagster.platform.ledger.runs()
    assert run.state is RunState.VALIDATED
    with pytest.raises(LaunchFailed, match=f"candidate .{PublishScope.DARK}. and is never"):
        dagster.publish(spec, EARLY, {tags.RUN: run.run_id})
