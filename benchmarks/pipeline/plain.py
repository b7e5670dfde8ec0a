"""Plain Dagster over the same transforms: three partitioned assets, and nothing that controls them.

`range_run` does a backfill in one run and `run_per_day` in a run for each day. Spark is that of the
run's own process, unless settings name a warm one.
"""

import warnings
from collections.abc import Callable
from datetime import date

import dagster as dg
from pyspark.sql import SparkSession

from backfill_platform.domain.partitions import DayRange
from backfill_platform.enforcement.bronze import FIRST_DAY
from backfill_platform.settings import load_settings
from benchmarks.pipeline import raw

_SETTINGS = load_settings()
_DAYS = dg.DailyPartitionsDefinition(start_date=FIRST_DAY.isoformat())

Work = Callable[[SparkSession, DayRange], None]


def _load_bronze(spark: SparkSession, days: DayRange) -> None:
    raw.load_bronze(spark, _SETTINGS.landing, _SETTINGS.warehouse, days)


def _compute_silver(spark: SparkSession, days: DayRange) -> None:
    raw.compute_silver(spark, _SETTINGS.warehouse, days)


def _compute_gold(spark: SparkSession, days: DayRange) -> None:
    raw.compute_gold(spark, _SETTINGS.warehouse, days)


def _spark() -> SparkSession:
    if _SETTINGS.spark_remote:
        return SparkSession.builder.remote(_SETTINGS.spark_remote).getOrCreate()
    return raw.start_spark(_SETTINGS)


def _asset(
    name: str, above: str | None, work: Work, policy: dg.BackfillPolicy
) -> dg.AssetsDefinition:
    @dg.asset(
        name=name,
        deps=[above] if above else [],
        partitions_def=_DAYS,
        backfill_policy=policy,
    )
    def computed(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
        keys = context.partition_key_range
        days = DayRange.closed(date.fromisoformat(keys.start), date.fromisoformat(keys.end))
        work(_spark(), days)
        return dg.MaterializeResult()

    return computed


def _definitions(policy: dg.BackfillPolicy) -> dg.Definitions:
    return dg.Definitions(
        assets=[
            _asset("bronze", None, _load_bronze, policy),
            _asset("silver", "bronze", _compute_silver, policy),
            _asset("gold", "silver", _compute_gold, policy),
        ],
        executor=dg.in_process_executor,  # a process for each step would start Spark three times
    )


with warnings.catch_warnings():
    warnings.simplefilter("ignore", dg.BetaWarning)
    range_run = _definitions(dg.BackfillPolicy.single_run())
    run_per_day = _definitions(dg.BackfillPolicy.multi_run(1))
