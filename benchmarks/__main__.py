"""Runs the benchmarks that measure ratios, and prints the tables of docs/benchmarks.md."""

import tempfile
from pathlib import Path

from rich.console import Console

from backfill_platform.cli.environment import enter_project
from backfill_platform.lakehouse.jars import jar_paths
from backfill_platform.lakehouse.session import session_config, start_local_session
from backfill_platform.settings import load_settings
from benchmarks.publication import publication_table
from benchmarks.validation import suite_table
from benchmarks.validation_share import share_table


def main() -> None:
    settings, console = load_settings(), Console(soft_wrap=True)
    enter_project(settings)
    spark = start_local_session(session_config(jar_paths(settings.cache_dir)), name="benchmarks")
    with tempfile.TemporaryDirectory(prefix="backfill-bench-") as folder:
        for table in (publication_table, suite_table, share_table):
            for line in table(spark, Path(folder) / table.__name__):
                console.print(line, markup=False, highlight=False)
            console.print()
    spark.stop()


main()
