"""Dagster over the tiny domain of `readings`, for launches that come to an end without Spark."""

import dagster as dg
from dagster_pyspark import PySparkResource

SPARKLESS = PySparkResource(spark_config={})


def failure_of(result: dg.ExecuteInProcessResult) -> str:
    """What the first step that failed says of it."""
    error = result.get_step_failure_events()[0].step_failure_data.error
    assert error is not None
    return (error.cause or error).message
