"""What Dagster knows of a run, and of the launch that a group came from."""

import pytest
from dagster._core.execution.backfill import BulkActionStatus, PartitionBackfill

from backfill_platform.domain.identity import RunId
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.keys import table_key
from backfill_platform.orchestration.sensors.launched import find_launched, is_group_at_work
from backfill_platform_tests.orchestration.sensors.ticks import S, World
from backfill_platform_tests.readings import BRONZE

RUN = RunId("bf-20260704-readings-1.0.0-001")
KEY = table_key(BRONZE)


def backfill(world: World, status: BulkActionStatus) -> None:
    world.instance.add_backfill(
        PartitionBackfill(
            backfill_id="abc", status=status, from_failure=False, tags={}, backfill_timestamp=0.0
        )
    )


def test_a_run_is_found_by_the_tag_that_named_it_and_by_what_it_turned_out_to_be(world):
    first = world.record({f"{tags.RUN_ID_PREFIX}{BRONZE}": RUN}, [KEY], S.SUCCESS)
    second = world.record({tags.RUN: RUN}, [KEY], S.STARTED)
    world.record({tags.RUN: "another"}, [KEY], S.STARTED)
    found = find_launched(world.instance, RUN, BRONZE)
    assert [run.run_id for run in found.runs] == [second, first]
    assert found.is_at_work


def test_only_what_ended_without_success_counts_as_ended(world):
    world.record({tags.RUN: RUN}, [KEY], S.SUCCESS)
    world.record({tags.RUN: RUN}, [KEY], S.FAILURE)
    world.record({tags.RUN: RUN}, [], S.FAILURE)
    assert find_launched(world.instance, RUN, BRONZE).ended(KEY) == 1


def test_a_run_that_nobody_launched_is_not_at_work(world):
    found = find_launched(world.instance, RUN, BRONZE)
    assert (found.is_at_work, found.is_cancelled) == (False, False)


@pytest.mark.parametrize(
    ("status", "is_at_work"),
    [
        (BulkActionStatus.REQUESTED, True),
        (BulkActionStatus.CANCELING, True),
        (BulkActionStatus.COMPLETED_SUCCESS, False),
        (BulkActionStatus.COMPLETED_FAILED, False),
        (BulkActionStatus.CANCELED, False),
    ],
)
def test_a_backfill_is_at_work_until_it_has_ended(world, status, is_at_work):
    backfill(world, status)
    assert is_group_at_work(world.instance, "dagster-backfill:abc") is is_at_work


@pytest.mark.parametrize("status", [S.STARTING, S.STARTED, S.CANCELING])
def test_a_launch_is_at_work_while_one_of_its_runs_is(world, status):
    world.record({tags.LAUNCH: "night"}, [], status)
    assert is_group_at_work(world.instance, "launch:night")


def test_a_run_that_is_executed_again_is_at_work_for_the_group_of_the_first(world):
    world.record({"dagster/root_run_id": "first"}, [], S.STARTED)
    assert is_group_at_work(world.instance, "dagster-run:first")


def test_what_has_ended_is_not_at_work(world):
    world.record({tags.GROUP: "group"}, [], S.FAILURE)
    assert not is_group_at_work(world.instance, "group")
    assert not is_group_at_work(world.instance, "dagster-backfill:unknown")
