"""Dagster over the tiny domain of `readings`, for launches that come to an end without Spark."""

from collections.abc import Mapping
from typing import Any

import dagster as dg
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.execution.api import execute_run
from dagster_pyspark import PySparkResource

from backfill_platform.domain.partitions import DayRange
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.local_runs import LocalDagster


class NoSpark(PySparkResource):
    """What is refused computes nothing, so nobody may ask it for anything."""

    def setup_for_execution(self, context: dg.InitResourceContext) -> None:
        """It never starts."""

    @property
    def spark_session(self) -> Any:
        return None


SPARKLESS = NoSpark(spark_config={})


def of_days(days: DayRange) -> Mapping[str, str]:
    return {tags.RANGE_START: days.start.isoformat(), tags.RANGE_END: days.last.isoformat()}


def failure_of(result: dg.ExecuteInProcessResult) -> str:
    """What the first step that failed says of it."""
    error = result.get_step_failure_events()[0].step_failure_data.error
    assert error is not None
    return (error.cause or error).message


def execute_again(dagster: LocalDagster, first: dg.DagsterRun) -> dg.DagsterRun:
    """As a run's page does it once its backfill has ended: without the tags of that one."""
    assert first.asset_selection is not None
    whole = dagster.definitions.resolve_implicit_global_asset_job_def()
    job = whole.get_subset(asset_selection=first.asset_selection)
    run = dagster.instance.create_run_for_job(
        job_def=job,
        tags={name: text for name, text in first.tags.items() if name != tags.BACKFILL_ID},
        asset_selection=first.asset_selection,
        parent_run_id=first.run_id,
        root_run_id=first.root_run_id or first.run_id,
    )
    execute_run(InMemoryJob(job), run, dagster.instance, raise_on_error=False)
    again = dagster.instance.get_run_by_id(run.run_id)
    assert again is not None
    return again
