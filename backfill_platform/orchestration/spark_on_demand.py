"""Spark for assets and jobs, started with its first use and not before.

Dagster's own resource starts it with the run: then a launch that is refused in a moment would wait
for a JVM first.
"""

import dagster as dg
from dagster_pyspark import PySparkResource
from dagster_pyspark.resources import spark_session_from_config
from pyspark.sql import SparkSession


class SparkOnDemand(PySparkResource):
    def setup_for_execution(self, context: dg.InitResourceContext) -> None:
        """Nothing yet."""

    @property
    def spark_session(self) -> SparkSession:
        if self._spark_session is None:
            self._spark_session = spark_session_from_config(self.spark_config)
        return self._spark_session
