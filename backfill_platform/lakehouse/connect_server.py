"""A warm Spark for every run: Spark Connect, on localhost only.

Starting Spark takes longer than most chunks. The server pays for it once; a new run's process then
answers its first Delta query in about a second.

It is an ordinary session with Connect as a plugin. The server class that Spark brings gives each
session class loaders of its own, whatever is configured, and then every run compiles all of its
plans again, and Java begins anew to find out which of that is worth a compiler's time.
"""

import sys
from collections.abc import Mapping

from backfill_platform.lakehouse.submitting import submit_command

_PLUGIN = "org.apache.spark.sql.connect.SparkConnectPlugin"


def connect_server_command(
    config: Mapping[str, str], *, master: str, host: str, port: int
) -> list[str]:
    settings = {
        **config,
        "spark.plugins": _PLUGIN,
        "spark.connect.grpc.binding.address": host,
        "spark.connect.grpc.binding.port": str(port),
        "spark.pyspark.driver.python": sys.executable,
    }
    return submit_command("warm_session.py", config=settings, master=master)
