"""Runs every benchmark and prints its table."""

import tempfile
from pathlib import Path

from rich.console import Console

from backfill_platform.cli.environment import enter_project
from backfill_platform.lakehouse.jars import jar_paths
from backfill_platform.lakehouse.session import session_config, start_local_session
from backfill_platform.settings import load_settings
from benchmarks.publication import compare_publication


def main() -> None:
    settings = load_settings()
    enter_project(settings)
    spark = start_local_session(session_config(jar_paths(settings.cache_dir)), name="benchmarks")
    with tempfile.TemporaryDirectory(prefix="backfill-bench-") as folder:
        Console().print(compare_publication(spark, Path(folder)))
    spark.stop()


main()
