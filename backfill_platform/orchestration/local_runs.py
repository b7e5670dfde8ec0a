"""Runs assets in this process, in the same Dagster instance as the UI.

The UI's own launches take another way to the same assets; what happens in them is the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import dagster as dg
from dagster_pyspark import PySparkResource
from pyspark.sql import SparkSession

from backfill_platform.domain.errors import LaunchFailed
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.tables import TableSpec
from backfill_platform.engine.platform import Platform, open_platform
from backfill_platform.lakehouse.session import start_local_session
from backfill_platform.orchestration import tags
from backfill_platform.orchestration.build import assemble, local_spark_settings
from backfill_platform.orchestration.keys import staging_key, table_key
from backfill_platform.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalDagster:
    """A platform with its Dagster definitions, the instance and a Spark session of this process."""

    platform: Platform
    spark: SparkSession
    definitions: dg.Definitions
    instance: dg.DagsterInstance

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
            raise LaunchFailed(_first_failure(result))
        return result.run_id


@contextmanager
def open_local_dagster(settings: Settings) -> Iterator[LocalDagster]:
    config = local_spark_settings(settings)
    platform = open_platform(settings)
    spark = start_local_session(config, master=settings.spark_master)
    with dg.DagsterInstance.get() as instance:
        yield LocalDagster(
            platform=platform,
            spark=spark,
            definitions=assemble(platform, PySparkResource(spark_config=config)),
            instance=instance,
        )
    spark.stop()


def _first_failure(result: dg.ExecuteInProcessResult) -> str:
    for event in result.all_events:
        if event.is_step_failure:
            error = event.step_failure_data.error
            text = (error.cause or error).message if error else event.message or ""
            return text.partition("JVM stacktrace:")[0].strip()
    return "the run failed before its first step"
