"""Builds Dagster's definitions from settings; a test builds them with its own."""

import warnings
from typing import Any

import dagster as dg
from dagster_pyspark import PySparkResource

from backfill_platform.engine.platform import Platform, open_platform
from backfill_platform.lakehouse.jars import jar_paths
from backfill_platform.lakehouse.session import WRITING, session_config
from backfill_platform.orchestration.assets import (
    make_publish_asset,
    make_staging_asset,
    source_assets,
)
from backfill_platform.orchestration.checks import make_gate_checks
from backfill_platform.orchestration.jobs.acting import Desk
from backfill_platform.orchestration.jobs.registered import make_jobs
from backfill_platform.orchestration.sensors.registered import build_schedules, build_sensors
from backfill_platform.orchestration.spark_on_demand import SparkOnDemand
from backfill_platform.settings import Settings


def build_definitions(settings: Settings) -> dg.Definitions:
    platform = open_platform(settings)
    pyspark = SparkOnDemand(spark_config=spark_settings(settings))
    return assemble(platform, pyspark, is_signed_in=bool(settings.identity_header))


def assemble(
    platform: Platform, pyspark: PySparkResource, *, is_signed_in: bool = False
) -> dg.Definitions:
    """`is_signed_in` says that a proxy tells who acts; a test says it of itself."""
    with warnings.catch_warnings():
        # Backfill policies, and checks with partitions, work and are locked to one version; the
        # notice would come per asset.
        warnings.simplefilter("ignore", dg.BetaWarning)
        warnings.simplefilter("ignore", dg.PreviewWarning)
        return _assemble(platform, pyspark, is_signed_in=is_signed_in)


def _assemble(
    platform: Platform, pyspark: PySparkResource, *, is_signed_in: bool
) -> dg.Definitions:
    specs = platform.catalog.tables.values()
    return dg.Definitions(
        assets=[
            *source_assets(platform),
            *(make_staging_asset(platform, spec) for spec in specs),
            *(make_publish_asset(platform, spec) for spec in specs),
        ],
        asset_checks=[make_gate_checks(platform, spec) for spec in specs],
        jobs=make_jobs(Desk(platform=platform, is_signed_in=is_signed_in)),
        sensors=build_sensors(platform),
        schedules=build_schedules(platform),
        resources={"pyspark": pyspark},
        # One process for a whole run: a process per step would start a Spark session per step.
        executor=dg.in_process_executor,
    )


def spark_settings(settings: Settings) -> dict[str, Any]:
    """A warm Spark Connect server when there is one, otherwise a session of the run's own."""
    if settings.spark_remote:
        return {"spark.remote": settings.spark_remote, **WRITING}
    return local_spark_settings(settings) | {"spark.master": settings.spark_master}


def local_spark_settings(settings: Settings) -> dict[str, Any]:
    """A session of one run's own is always cold. It is not called short-lived, because what is
    saved on a run of seconds is lost several times over on one of minutes."""
    return session_config(jar_paths(settings.cache_dir), driver_memory=settings.spark_driver_memory)
