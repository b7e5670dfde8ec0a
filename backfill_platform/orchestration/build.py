"""Builds Dagster's definitions from settings; a test builds them with its own."""

import warnings
from typing import Any

import dagster as dg
from dagster_pyspark import PySparkResource

from backfill_platform.engine.platform import Platform, open_platform
from backfill_platform.lakehouse.jars import jar_paths
from backfill_platform.lakehouse.session import session_config
from backfill_platform.orchestration.assets import (
    make_publish_asset,
    make_staging_asset,
    source_assets,
)
from backfill_platform.orchestration.checks import make_gate_checks
from backfill_platform.orchestration.sensors.gaps import make_gap_sensor
from backfill_platform.settings import Settings


def build_definitions(settings: Settings) -> dg.Definitions:
    platform = open_platform(settings)
    return assemble(platform, PySparkResource(spark_config=spark_settings(settings)))


def assemble(platform: Platform, pyspark: PySparkResource) -> dg.Definitions:
    with warnings.catch_warnings():
        # Backfill policies, and checks with partitions, work and are locked to one version; the
        # notice would come per asset.
        warnings.simplefilter("ignore", dg.BetaWarning)
        warnings.simplefilter("ignore", dg.PreviewWarning)
        return _assemble(platform, pyspark)


def _assemble(platform: Platform, pyspark: PySparkResource) -> dg.Definitions:
    specs = platform.catalog.tables.values()
    return dg.Definitions(
        assets=[
            *source_assets(platform),
            *(make_staging_asset(platform, spec) for spec in specs),
            *(make_publish_asset(platform, spec) for spec in specs),
        ],
        sensors=[make_gap_sensor(platform)],
        asset_checks=[make_gate_checks(platform, spec) for spec in specs],
        resources={"pyspark": pyspark},
        # One process for a whole run: a process per step would start a Spark session per step.
        executor=dg.in_process_executor,
    )


def spark_settings(settings: Settings) -> dict[str, Any]:
    """A warm Spark Connect server when there is one, otherwise a session of the run's own."""
    if settings.spark_remote:
        return {"spark.remote": settings.spark_remote}
    return local_spark_settings(settings) | {"spark.master": settings.spark_master}


def local_spark_settings(settings: Settings) -> dict[str, Any]:
    """A session of one run's own is always cold: it ends before a full compilation would pay."""
    return session_config(
        jar_paths(settings.cache_dir),
        driver_memory=settings.spark_driver_memory,
        short_lived=True,
    )
