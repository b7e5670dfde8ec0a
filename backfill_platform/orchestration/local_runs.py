"""Runs assets in this process, in the same Dagster instance as the UI.

The UI's own launches take another way to the same assets; what happens in them is the same.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import dagster as dg
from dagster_shared.error import SerializableErrorInfo
from pyspark.sql import SparkSession

from backfill_platform.domain.errors import (
    LaunchFailed,
    LaunchInterrupted,
    Retryable,
    every_kind,
)
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.tables import TableSpec
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform, open_platform
from backfill_platform.lakehouse.session import start_local_session
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.build import assemble, local_spark_settings
from backfill_platform.orchestration.keys import staging_key, table_key
from backfill_platform.orchestration.spark_on_demand import SparkOnDemand
from backfill_platform.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalDagster:
    """A platform with its Dagster definitions, the instance and a Spark session of this process."""

    platform: Platform
    definitions: dg.Definitions
    instance: dg.DagsterInstance
    start_spark: Callable[[], SparkSession]

    @property
    def spark(self) -> SparkSession:
        """Of this process; it starts with the first use, because publication needs none."""
        return self.start_spark()

    def stage_run(
        self, run_id: RunId, *, on_chunk: Callable[[DayRange], None] = lambda _: None
    ) -> None:
        """A planned run, chunk by chunk; chunks that are staged already cost nothing."""
        manifest = load_manifest(self.platform, run_id)
        spec = self.platform.catalog.tables[manifest.target.table]
        for days in manifest.chunks:
            self.stage(spec, days, {tags.RUN: run_id})
            on_chunk(days)

    def publish_run(self, run_id: RunId, days: PartitionSet | None = None) -> None:
        """What of a planned run is asked for, or all of it. A contiguous range is a Dagster run,
        and a commit unless the run becomes visible at once."""
        manifest = load_manifest(self.platform, run_id)
        spec = self.platform.catalog.tables[manifest.target.table]
        asked = days or manifest.target.partitions
        for part in asked.ranges:
            self.publish(spec, part, {tags.RUN: run_id, tags.DAYS: str(asked)})

    def stage(self, spec: TableSpec, days: DayRange, run_tags: Mapping[str, str]) -> str:
        return self._run([staging_key(spec)], days, run_tags)

    def publish(self, spec: TableSpec, days: DayRange, run_tags: Mapping[str, str]) -> str:
        return self._run([table_key(spec.full_name)], days, run_tags)

    def stage_and_publish(
        self, spec: TableSpec, days: DayRange, run_tags: Mapping[str, str]
    ) -> str:
        return self._run([staging_key(spec), table_key(spec.full_name)], days, run_tags)

    def _run(
        self, assets: Sequence[dg.AssetKey], days: DayRange, run_tags: Mapping[str, str]
    ) -> str:
        """One Dagster run of these assets over contiguous days: one chunk. Returns its id."""
        result = self.definitions.resolve_implicit_global_asset_job_def().execute_in_process(
            instance=self.instance,
            asset_selection=list(assets),
            tags={
                **run_tags,
                tags.RANGE_START: days.start.isoformat(),
                tags.RANGE_END: days.last.isoformat(),
            },
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            raise_on_error=False,
        )
        if not result.success:
            raise _first_failure(result)
        return result.run_id


@contextmanager
def open_local_dagster(settings: Settings) -> Iterator[LocalDagster]:
    """Spark starts when something is computed, and ends with this."""
    config = local_spark_settings(settings)
    platform = open_platform(settings)
    pyspark = SparkOnDemand(spark_config=config | {"spark.master": settings.spark_master})
    with dg.DagsterInstance.get() as instance:
        yield LocalDagster(
            platform=platform,
            definitions=assemble(platform, pyspark),
            instance=instance,
            start_spark=partial(start_local_session, config, master=settings.spark_master),
        )
    session = SparkSession.getActiveSession()
    if session is not None:
        session.stop()


def _first_failure(result: dg.ExecuteInProcessResult) -> LaunchFailed | LaunchInterrupted:
    for event in result.all_events:
        if event.is_step_failure:
            error = event.step_failure_data.error
            cause = (error.cause or error) if error else None
            text = _said(cause) if cause else event.message or ""
            kind = LaunchInterrupted if cause and _passes(cause) else LaunchFailed
            return kind(text.partition("JVM stacktrace:")[0].strip())
    return LaunchFailed("the run failed before its first step")


def _passes(error: SerializableErrorInfo) -> bool:
    """Of an error Dagster keeps no more than the name of its class."""
    return error.cls_name in {kind.__name__ for kind in every_kind(Retryable)}


def _said(error: SerializableErrorInfo) -> str:
    """Without the name of the error's class, which Dagster puts before it."""
    name, colon, said = error.message.partition(": ")
    return said if colon and name.rpartition(".")[2] == error.cls_name else error.message
