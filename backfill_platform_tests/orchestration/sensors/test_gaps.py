"""The sensor that looks for gaps: what it requests, and that asking again asks for nothing new."""

from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.sensor_definition import SensorExecutionData
from dagster_pyspark import PySparkResource

import backfill_platform_tests
from backfill_platform.domain.modes import RunKind
from backfill_platform.engine.gaps.finding import find_gaps
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform, load_policy
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.build import assemble
from backfill_platform_tests.engine.by_hand import run_by_hand
from backfill_platform_tests.readings import BRONZE, week

REPAIRS = Path(backfill_platform_tests.__file__).parent / "policies" / "repairs.yaml"
STAGING = dg.AssetKey(["staging", "bronze", "readings"])
PUBLISHED = dg.AssetKey(["bronze", "readings"])


@pytest.fixture
def repairing(platform, intent):
    """Two days of a week are published; five wait."""
    days = week(days=2)
    manifest = plan_run(platform, intent(BRONZE, days, "by-hand"))
    run_by_hand(platform, manifest, dict.fromkeys(days, ("a", "b")))
    return replace(platform, policy=load_policy(REPAIRS))


def tick(platform: Platform) -> SensorExecutionData:
    """As the daemon has it done, which refuses a request that the assets do not bear."""
    definitions = assemble(platform, PySparkResource(spark_config={}))
    with dg.DagsterInstance.ephemeral() as instance:
        context = dg.build_sensor_context(instance=instance, definitions=definitions)
        return definitions.resolve_sensor_def("gaps").evaluate_tick(context)


def requests(platform: Platform) -> list[dg.RunRequest]:
    return [*(tick(platform).run_requests or ())]


def test_a_gap_becomes_a_run_that_is_staged_and_published_in_one_go(repairing):
    (request,) = requests(repairing)
    (run,) = repairing.ledger.runs(kind=RunKind.REPAIR)
    assert request.asset_selection == [STAGING, PUBLISHED]
    assert request.tags[tags.RUN] == run.run_id
    assert (request.tags[tags.RANGE_START], request.tags[tags.RANGE_END]) == (
        "2025-01-03",
        "2025-01-05",
    )


def test_the_next_tick_asks_again_under_the_same_name(repairing):
    first, second = requests(repairing), requests(repairing)
    assert [one.run_key for one in first] == [one.run_key for one in second]


def test_what_has_to_be_agreed_to_before_it_is_published_is_only_staged(repairing):
    strict = load_policy(REPAIRS)
    asking = replace(strict, rules=strict.rules[1:])
    (request,) = requests(replace(repairing, policy=asking))
    assert request.asset_selection == [STAGING]


def test_where_nothing_is_to_be_done_the_tick_says_what_it_saw(platform):
    answer = tick(platform)
    assert answer.skip_message == ("gaps: 1; planned: 0; waiting: 0; not repaired unattended: 1")


def test_what_the_sensor_requests_fills_the_gap(repairing, spark, tmp_path):
    (request,) = requests(repairing)
    definitions = assemble(repairing, PySparkResource(spark_config={}))
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        done = definitions.resolve_implicit_global_asset_job_def().execute_in_process(
            instance=instance,
            asset_selection=[*(request.asset_selection or ())],
            tags=request.tags,
        )
    assert done.success
    assert [str(gap.days) for gap in find_gaps(repairing, [BRONZE])] == ["2025-01-06..2025-01-07"]
