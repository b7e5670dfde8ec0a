"""Dagster's own dequeuer over the shipped configuration: the daily load always finds a place."""

import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path

import dagster as dg
import pytest
import yaml
from dagster._core.events import JobFailureData, RunFailureReason
from dagster._core.remote_origin import (
    RegisteredCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.run_coordinator.base import SubmitRunContext
from dagster._daemon.run_coordinator.queued_run_coordinator_daemon import (
    QueuedRunCoordinatorDaemon,
)

from backfill_platform.domain.modes import RunKind
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.run_coordinator import SigningCoordinator
from backfill_platform.orchestration.sensors.dead_runs import end_dead_runs, sign
from backfill_platform.orchestration.sensors.requests import launch_tags
from backfill_platform.settings import PROJECT
from backfill_platform_tests.readings import week

STAGING = dg.AssetKey(["staging", "bronze", "readings"])
PUBLISHED = dg.AssetKey(["bronze", "readings"])
ORIGIN = RemoteJobOrigin(
    RemoteRepositoryOrigin(RegisteredCodeLocationOrigin("tests"), "tests"), "__ASSET_JOB"
)
DAILY = {**launch_tags(RunKind.LIVE, week(days=1)), tags.LAUNCH: "daily"}
QUEUED = dg.DagsterRunStatus.QUEUED

_numbers = count(1)


def queued(
    run_tags: Mapping[str, str], assets: Iterable[dg.AssetKey], status: dg.DagsterRunStatus
) -> dg.DagsterRun:
    return dg.DagsterRun(
        job_name="__ASSET_JOB",
        run_id=f"00000000-0000-4000-8000-{next(_numbers):012d}",
        status=status,
        tags=dict(run_tags),
        asset_selection=frozenset(assets),
        remote_job_origin=ORIGIN,
    )


class Queue:
    def __init__(self, instance: dg.DagsterInstance) -> None:
        self.instance = instance
        self.daemon = QueuedRunCoordinatorDaemon(interval_seconds=1)

    def submit(self, run_tags: dict[str, str], *assets: dg.AssetKey) -> str:
        run = queued(run_tags, assets, dg.DagsterRunStatus.NOT_STARTED)
        self.instance.run_storage.add_run(run)
        context = SubmitRunContext(dagster_run=run, workspace=None)  # pyright: ignore
        self.instance.run_coordinator.submit_run(context)
        return run.run_id

    def add_like(self, run_id: str, more: int) -> None:
        """As if they had been submitted as well, in a fraction of the time."""
        like = self.instance.get_run_by_id(run_id)
        assert like is not None
        for _ in range(more):
            self.instance.run_storage.add_run(queued(like.tags, like.asset_selection or (), QUEUED))

    def backfill(self, name: str, chunks: int) -> None:
        """As a backfill of so many chunks stands in the queue when it is launched in the UI."""
        first = self.submit({"dagster/backfill": name}, STAGING, PUBLISHED)
        self.add_like(first, chunks - 1)

    def run_of(self, run_id: str, chunks: int) -> None:
        """As a planned run stands there when a sensor asks for it."""
        first = self.submit({tags.RUN: run_id, tags.KIND: "BACKFILL"}, STAGING)
        self.add_like(first, chunks - 1)

    def start_due(self) -> list[str]:
        """What the daemon would launch now; it then counts as started."""
        config = self.instance.get_concurrency_config()
        due = [run.run_id for run in self.daemon._get_runs_to_dequeue(self.instance, config, None)]
        for run_id in due:
            run = self.instance.get_run_by_id(run_id)
            assert run is not None
            event = dg.DagsterEvent(
                event_type_value="PIPELINE_START", job_name=run.job_name, message="t"
            )
            self.instance.report_dagster_event(event, run_id)
        return due


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Queue]:
    shipped = yaml.safe_load((PROJECT / "dagster.yaml").read_text())
    wanted = ("run_coordinator", "concurrency", "run_monitoring", "run_retries", "sensors")
    overrides = {name: shipped[name] for name in wanted}
    with dg.instance_for_test(overrides=overrides, temp_dir=str(tmp_path)) as instance:
        yield Queue(instance)


def test_the_shipped_instance_uses_this_queue(queue):
    assert isinstance(queue.instance.run_coordinator, SigningCoordinator)
    assert queue.instance.get_concurrency_config().run_queue_config.max_concurrent_runs == 2


def test_a_backfill_of_a_year_leaves_a_place_for_the_daily_load(queue):
    queue.backfill("year", 73)  # chunks of five days
    first = queue.start_due()
    daily = queue.submit(DAILY, STAGING, PUBLISHED)
    assert len(first) == 1
    assert queue.start_due() == [daily]


def test_many_backfills_and_runs_of_sensors_together_leave_it(queue):
    queue.backfill("one", 4)
    queue.backfill("two", 4)
    queue.run_of("bf-1", 4)
    queue.run_of("bf-2", 4)
    first = queue.start_due()
    daily = queue.submit(DAILY, STAGING, PUBLISHED)
    assert len(first) == 1
    assert queue.start_due() == [daily]


def test_the_daily_load_is_first_where_both_places_are_free(queue):
    queue.backfill("year", 110)  # more than the daemon reads at once
    daily = queue.submit(DAILY, STAGING, PUBLISHED)
    assert queue.start_due()[0] == daily


def test_a_year_of_live_days_loaded_as_a_backfill_gives_way_too(queue):
    said = {"dagster/backfill": "live", tags.KIND: "LIVE"}
    queue.add_like(queue.submit(said, STAGING, PUBLISHED), 3)
    assert len(queue.start_due()) == 1
    daily = queue.submit(DAILY, STAGING, PUBLISHED)
    assert queue.start_due() == [daily]


def test_chunks_of_one_run_go_one_after_the_other(queue):
    queue.submit({tags.RUN: "bf-1"}, PUBLISHED)
    queue.submit({tags.RUN: "bf-1"}, PUBLISHED)
    assert len(queue.start_due()) == 1
    assert queue.start_due() == []


def test_a_publication_does_not_wait_for_a_computation(queue):
    queue.backfill("year", 10)
    queue.start_due()
    publication = queue.submit({tags.RUN: "bf-9"}, PUBLISHED)
    assert queue.start_due() == [publication]


def test_a_run_whose_process_is_gone_gives_its_place_back_and_is_executed_again(queue):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    dead = queue.submit({}, STAGING)
    queue.start_due()
    sign(queue.instance, dead, f"{socket.gethostname()}:{process.pid}")
    assert end_dead_runs(queue.instance) == (dead,)
    ended = queue.instance.get_run_by_id(dead)
    assert ended.status is dg.DagsterRunStatus.FAILURE
    assert ended.tags["dagster/will_retry"] == "true"


def test_what_failed_on_its_own_is_not_executed_again(queue):
    run_id = queue.submit({}, STAGING)
    queue.start_due()
    failed = JobFailureData(error=None, failure_reason=RunFailureReason.STEP_FAILURE)
    run = queue.instance.get_run_by_id(run_id)
    queue.instance.report_run_failed(run, "a gate", failed)
    assert queue.instance.get_run_by_id(run_id).tags["dagster/will_retry"] == "false"
