"""What is executed again goes on with the run that it repeats, and does not begin another one."""

from collections.abc import Callable, Iterator

import dagster as dg
import pytest

from backfill_platform.domain.errors import LaunchFailed
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.build import assemble
from backfill_platform.orchestration.launches import launch_origin
from backfill_platform.orchestration.local_runs import LocalDagster
from backfill_platform.orchestration.spark_on_demand import SparkOnDemand
from backfill_platform_tests.orchestration.launching import execute_again
from backfill_platform_tests.readings import BRONZE, land, week

DAYS = week()
FIRST, SECOND = DAYS.split(5)
ROOT = "dagster-backfill:abc:bronze.readings"

Launched = Callable[..., str]


@pytest.fixture
def origin_of() -> Iterator[Launched]:
    """The origin of a Dagster run with these tags, which may repeat another one."""
    with dg.DagsterInstance.ephemeral() as instance:

        def record(name: str, *, root: str | None = None, **given: str) -> str:
            run = dg.DagsterRun("job", name, tags=given, root_run_id=root, parent_run_id=root)
            instance.add_run(run)
            return launch_origin(instance, run, BRONZE)

        yield record


@pytest.fixture
def dagster(platform, spark, tmp_path) -> Iterator[LocalDagster]:
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        yield LocalDagster(
            platform=platform,
            definitions=assemble(platform, SparkOnDemand(spark_config={})),
            instance=instance,
            start_spark=lambda: spark,
        )


def test_a_run_of_a_backfill_belongs_to_the_backfill(origin_of):
    assert origin_of("one", **{tags.BACKFILL_ID: "abc"}) == ROOT


def test_a_backfill_of_what_failed_belongs_to_the_backfill_that_it_repeats(origin_of):
    assert origin_of("one", **{tags.BACKFILL_ID: "def", tags.ROOT_BACKFILL_ID: "abc"}) == ROOT


def test_a_run_that_is_executed_again_after_its_backfill_has_ended_still_belongs_to_it(origin_of):
    """Dagster takes the tags of the backfill from it."""
    origin_of("one", **{tags.BACKFILL_ID: "abc"})
    assert origin_of("two", root="one") == ROOT


def test_a_run_whose_root_is_no_longer_known_belongs_to_that_root(origin_of):
    assert origin_of("two", root="deleted") == "dagster-run:deleted:bronze.readings"


def test_staged_chunks_are_not_computed_again(dagster):
    """The second chunk fails at first, and what was landed wrongly stays so: it fails again."""
    land(dagster.platform.landing, SECOND, [("a", 1), ("a", 1)])
    spec = dagster.platform.catalog.tables[BRONZE]
    with pytest.raises(LaunchFailed, match="key_unique"):
        dagster.stage(spec, DAYS, {tags.REASON: "tests", tags.BACKFILL_ID: "abc"})
    (first,) = dagster.instance.get_runs()
    again = execute_again(dagster, first)
    (run,) = dagster.platform.ledger.runs()
    attempts = {one.days: one.attempt for one in dagster.platform.ledger.chunks(run.run_id)}
    assert attempts == {FIRST: 1, SECOND: 2}
    assert (run.state, again.status) == (RunState.FAILED, dg.DagsterRunStatus.FAILURE)
    assert again.tags[f"{tags.RUN_ID_PREFIX}{BRONZE}"] == run.run_id
