"""What Dagster makes of declarations: structure first, then real runs over real Spark and Delta."""

from collections.abc import Iterator
from dataclasses import replace

import dagster as dg
import pytest

from backfill_platform.domain.errors import LaunchFailed
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.consent.approving import decide, draft_approval
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import load_policy
from backfill_platform.lakehouse.delta_tables import read_table_state
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.build import assemble
from backfill_platform.orchestration.local_runs import LocalDagster
from backfill_platform.orchestration.spark_on_demand import SparkOnDemand
from backfill_platform.settings import PROJECT
from backfill_platform_tests.readings import BRONZE, SILVER, land, week

DAYS = week()
FIRST, SECOND = DAYS.split(5)
REASON = {tags.REASON: "tests", tags.LAUNCH: "1", tags.DAYS: str(DAYS)}
STAGING = dg.AssetKey(["staging", "bronze", "readings"])
PUBLISHED = dg.AssetKey(["bronze", "readings"])


@pytest.fixture
def definitions(platform) -> dg.Definitions:
    return assemble(platform, SparkOnDemand(spark_config={}))


@pytest.fixture
def dagster(platform, definitions, spark, tmp_path) -> Iterator[LocalDagster]:
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        yield LocalDagster(
            platform=platform,
            definitions=definitions,
            instance=instance,
            start_spark=lambda: spark,
        )


@pytest.fixture
def strict(dagster) -> LocalDagster:
    """Under the shipped policy: seven days need the data engineering lead before publication."""
    platform = replace(dagster.platform, policy=load_policy(PROJECT / "governance.yaml"))
    definitions = assemble(platform, SparkOnDemand(spark_config={}))
    return replace(dagster, platform=platform, definitions=definitions)


def table(dagster: LocalDagster, name: str):
    return dagster.platform.catalog.tables[name]


def test_every_table_becomes_a_staging_asset_a_publish_asset_and_blocking_checks(
    definitions, platform
):
    graph = definitions.resolve_asset_graph()
    assert {key.to_user_string() for key in graph.get_all_asset_keys()} == {
        "landing/readings",
        "staging/bronze/readings",
        "bronze/readings",
        "staging/silver/totals",
        "silver/totals",
    }
    checks = {key.name for key in graph.asset_check_keys if key.asset_key == STAGING}
    assert checks == {gate.value for gate in platform.catalog.tables[BRONZE].gates}
    assert all(graph.get_check_spec(key).blocking for key in graph.asset_check_keys)


def test_staging_and_publication_share_partitions_and_policy(definitions):
    graph = definitions.resolve_asset_graph()
    staging, published = graph.get(STAGING), graph.get(PUBLISHED)
    assert staging.backfill_policy == published.backfill_policy == dg.BackfillPolicy.multi_run(5)
    assert staging.partitions_def == published.partitions_def


def test_a_selected_range_means_the_same_days_for_every_table_below(definitions):
    graph = definitions.resolve_asset_graph()
    staging = dg.AssetKey(["staging", "silver", "totals"])
    mapping = graph.get_partition_mapping(staging, PUBLISHED)
    assert mapping == dg.TimeWindowPartitionMapping()


def test_the_chunks_of_one_launch_join_one_run_and_carry_its_name(dagster):
    spec = table(dagster, BRONZE)
    runs = [dagster.stage_and_publish(spec, days, REASON) for days in (FIRST, SECOND)]
    (run,) = dagster.platform.ledger.runs()
    assert run.state is RunState.PUBLISHED
    names = {
        dagster.instance.get_run_by_id(one).tags[f"{tags.RUN_ID_PREFIX}{BRONZE}"] for one in runs
    }
    assert names == {run.run_id}


def test_a_materialization_of_each_day_tells_rows_checksum_and_run(dagster):
    dagster.stage_and_publish(table(dagster, BRONZE), FIRST, REASON)
    records = dagster.instance.fetch_materializations(PUBLISHED, limit=100).records
    told = {
        record.partition_key: record.asset_materialization.metadata["dagster/row_count"].value
        for record in records
    }
    assert told == {day.isoformat(): 2 for day in FIRST}


def test_what_is_staged_shows_its_plan_who_has_to_agree_and_what_it_took(strict):
    strict.stage(table(strict, BRONZE), DAYS, REASON)
    records = strict.instance.fetch_materializations(STAGING, limit=100).records
    told = {one.partition_key: one.asset_materialization.metadata for one in records}
    assert set(told) == {day.isoformat() for day in DAYS}
    shown = told["2025-01-01"]
    assert (shown["state"].value, shown["rows accepted now"].value) == ("AWAITING_PUBLISH", 0)
    assert (shown["rows more or fewer"].value, shown["rows read"].value) == (2, 14)
    assert shown["seconds of computing"].value > 0
    assert [record.data["agreed"] for record in shown["approvals"].records] == ["missing"]
    assert [record.data["table"] for record in shown["plan: impact"].records] == [SILVER]
    assert "launch the job approve_run" in shown["do now in Dagster"].value


def test_a_failed_check_keeps_the_publish_step_from_running(dagster):
    spec = table(dagster, BRONZE)
    dagster.stage_and_publish(spec, FIRST, REASON | {tags.DAYS: str(FIRST)})
    path = dagster.platform.warehouse.table_path(BRONZE)
    before = read_table_state(path, None)
    poisoned = DayRange.of_day(FIRST.last)
    land(dagster.platform.landing, poisoned, [("a", 1), ("a", 1)])
    with pytest.raises(LaunchFailed, match="key_unique"):
        dagster.stage_and_publish(spec, FIRST, {tags.REASON: "poisoned"})
    assert read_table_state(path, None) == before
    history = dagster.instance.event_log_storage.get_asset_check_execution_history
    newest, *of_days = history(dg.AssetCheckKey(STAGING, "key_unique"), limit=6)
    told = newest.evaluation
    assert (told.passed, told.severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert "Failed on 1 of 5 days. 2025-01-05: 1 row repeating" in told.description
    assert [row.partition for row in of_days if not row.evaluation.passed] == ["2025-01-05"]


def test_a_launch_without_a_reason_is_refused_with_the_tag_to_set(dagster):
    with pytest.raises(LaunchFailed, match="say why these numbers change"):
        dagster.stage_and_publish(table(dagster, BRONZE), FIRST, {})
    assert dagster.platform.ledger.runs() == ()


def test_a_tag_with_an_unknown_word_is_refused_with_the_known_ones(dagster):
    odd = REASON | {tags.KIND: "whatever"}
    with pytest.raises(LaunchFailed, match=r"it may be BACKFILL, REPLAY"):
        dagster.stage_and_publish(table(dagster, BRONZE), FIRST, odd)


def test_publishing_what_nobody_staged_is_refused(dagster):
    with pytest.raises(LaunchFailed, match="Nothing is staged"):
        dagster.publish(table(dagster, BRONZE), FIRST, REASON)


def test_days_whose_input_is_missing_are_refused_before_anything_is_computed(dagster):
    with pytest.raises(LaunchFailed, match=r"input bronze\.readings holds nothing for 5 of the 5"):
        dagster.stage_and_publish(table(dagster, SILVER), FIRST, {tags.REASON: "too early"})


def test_a_planned_run_is_carried_out_by_a_launch_that_names_it(dagster, intent):
    planned = plan_run(dagster.platform, intent(BRONZE, DAYS, "planned"))
    dagster.stage_run(planned.run_id)
    dagster.publish_run(planned.run_id)
    (run,) = dagster.platform.ledger.runs()
    assert (run.run_id, run.state) == (planned.run_id, RunState.PUBLISHED)
    versions = {one.target_version for one in _accepted(dagster)}
    assert len(versions) == 1, "computed in two chunks, published in one commit"


def test_a_launch_that_names_a_run_of_another_table_is_refused(dagster, intent):
    planned = plan_run(dagster.platform, intent(BRONZE, DAYS, "planned"))
    with pytest.raises(LaunchFailed, match=r"names 0 runs of silver.totals"):
        dagster.stage(table(dagster, SILVER), FIRST, {tags.RUN: planned.run_id})


def test_a_launch_that_lacks_consent_is_refused_by_its_first_step_with_both_roads(strict):
    with pytest.raises(LaunchFailed, match=r"approve first .* or review first"):
        strict.stage_and_publish(table(strict, BRONZE), DAYS, REASON)
    assert read_table_state(strict.platform.warehouse.table_path(BRONZE), None) is None


def test_review_first_stages_waits_for_the_approval_and_publishes_after_it(strict):
    strict.stage(table(strict, BRONZE), DAYS, REASON)
    (waiting,) = strict.platform.ledger.runs()
    assert waiting.state is RunState.AWAITING_PUBLISH
    lead = "data-engineering-lead"
    decide(strict.platform, draft_approval(strict.platform, waiting.run_id, principal=lead))
    strict.publish(table(strict, BRONZE), DAYS, {tags.RUN: waiting.run_id})
    assert strict.platform.ledger.run(waiting.run_id).state is RunState.PUBLISHED


def _accepted(dagster):
    return dagster.platform.ledger.accepted(BRONZE, DAYS).values()
