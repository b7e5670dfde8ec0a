"""Fetches artifacts by Spark's own resolver, in a process of its own.

So no repository address stands in the project: a mirror is an ordinary Ivy setting of Spark. The
plain session that does it must not outlive the question, because a JVM keeps the class path it was
started with; therefore this module is also a program: `python -m … <folder> <coordinate> …`.
"""

import subprocess
import sys
from pathlib import Path

from backfill_platform.domain.errors import SetupIncomplete


def resolve_with_spark(coordinates: tuple[str, ...], folder: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", __name__, str(folder), *coordinates],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    if answer.returncode:
        raise SetupIncomplete(
            f"Spark's resolver did not bring {', '.join(coordinates)}: {_reason(answer.stdout)} "
            "Check the network, or the mirror that the resolver is configured with, and run "
            "`make setup` again."
        )


def _reason(output: str) -> str:
    """The line that explains most, of a page of stack trace."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if "unresolved dependency" in line or "Exception" in line]
    return (telling or lines or ["it said nothing."])[-1]


def _resolve(folder: str, coordinates: list[str]) -> None:
    from pyspark import SparkConf, SparkContext

    conf = SparkConf().setMaster("local[1]").setAppName("resolve jars")
    conf.set("spark.ui.enabled", "false").set("spark.jars.ivy", folder)
    context = SparkContext(conf=conf)
    for coordinate in coordinates:
        context._jsc.sc().addJar(f"ivy://{coordinate}?transitive=false")  # type: ignore[union-attr]
    context.stop()


if __name__ == "__main__":
    _resolve(sys.argv[1], sys.argv[2:])
