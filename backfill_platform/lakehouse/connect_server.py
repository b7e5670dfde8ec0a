"""A warm Spark for every run: the Spark Connect server that pyspark brings, on localhost only.

Starting Spark takes longer than most chunks. The server pays for it once; a new run's process then
answers its first Delta query in about a second.
"""

from collections.abc import Mapping
from pathlib import Path

import pyspark

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


def connect_server_command(
    config: Mapping[str, str], *, master: str, host: str, port: int
) -> list[str]:
    settings = {
        **config,
        "spark.connect.grpc.binding.address": host,
        "spark.connect.grpc.binding.port": str(port),
    }
    spark_submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    return [
        str(spark_submit),
        *("--master", master, "--class", SERVER),
        *(part for name, value in settings.items() for part in ("--conf", f"{name}={value}")),
        "spark-internal",
    ]
