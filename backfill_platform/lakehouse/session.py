"""With which options Spark runs, the same for a local session and for the Connect server.

Every option has its reason beside it. What Java and which jars is decided before, in `java` and
`jars`; the master is the caller's.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOGGING = Path(__file__).with_name("log4j2.properties")

# For seconds of work, as in tests: half of the CPU. A cold run of millions of rows takes 1.6 times
# as long with them.
_SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

# For everything else. Nobody waits for a pause of Spark's, and Java's default marks all the time
# beside the work.
_USUAL = "-XX:+UseParallelGC"

# How files are written, in whatever Spark; see docs/adr/0021.
WRITING = {
    # INT96 by default: longer, without statistics, and deprecated by Parquet itself.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # `staged_statistics` takes them from the files' footers, where Parquet has counted them anyway.
    "spark.databricks.delta.stats.collect": "false",
}


def session_config(
    jars: Iterable[Path],
    *,
    driver_memory: str = "2g",
    cores: int | None = None,
    warehouse: Path | None = None,
    short_lived: bool = False,
) -> dict[str, str]:
    sizes = _sizes(driver_memory, cores or os.cpu_count() or 2)
    config = _delta(jars) | sizes | _local_and_quiet() | WRITING
    config["spark.driver.extraJavaOptions"] = _java_options(short_lived=short_lived)
    if warehouse:
        config["spark.sql.warehouse.dir"] = str(warehouse)
    return config


def start_local_session(
    config: Mapping[str, str], *, master: str = "local[*]", name: str = "backfill_platform"
) -> "SparkSession":
    """A session in this process; its environment must have been entered before (see `settings`)."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName(name)
    for key, value in config.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _delta(jars: Iterable[Path]) -> dict[str, str]:
    return {
        "spark.jars": ",".join(str(path) for path in jars),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # 50 by default, which is 50 tiny tasks for each look at a log.
        "spark.databricks.delta.snapshotPartitions": "2",
    }


def _sizes(driver_memory: str, cores: int) -> dict[str, str]:
    return {
        "spark.driver.memory": driver_memory,
        "spark.sql.shuffle.partitions": str(cores),
        # 100 by default, fewer than one run of three tables has: then each compiles all of it anew.
        "spark.sql.codegen.cache.maxEntries": "4000",
        # By default each session of a warm Spark compiles all of it once more, for files of its own
        # that somebody might bring along. Nobody does; settings and views stay a session's own.
        # `connect_server` sees to it that this is heeded.
        "spark.sql.artifact.isolation.enabled": "false",
        # VACUUM lists folders with as many tasks as this, and 10000 by default.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": str(cores),
    }


def _local_and_quiet() -> dict[str, str]:
    return {
        "spark.sql.session.timeZone": "UTC",
        # Nothing listens beyond this machine.
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


def _java_options(*, short_lived: bool) -> str:
    options = f'-Duser.timezone=UTC "-Dlog4j2.configurationFile={_LOGGING.as_uri()}"'
    return f"{options} {_SHORT_LIVED if short_lived else _USUAL}"
