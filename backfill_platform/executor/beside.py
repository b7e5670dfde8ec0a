"""Has Spark do something while the caller does something else with it.

What Spark plans, and the last tasks of what it carries out, leave processors idle.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import TypeVar

from pyspark.sql import SparkSession

T = TypeVar("T")

_AGAIN_SECONDS = 0.5


@contextmanager
def done_beside(spark: SparkSession, work: Callable[[], T], tag: str) -> Iterator[Callable[[], T]]:
    """Gives a function that waits for what `work` returns, or raises what it raised; `tag` is one
    that nothing else of the session has. Whoever leaves early has what Spark does of it
    interrupted, and nothing goes on afterwards
    (test_whoever_leaves_early_interrupts_what_is_done_beside)."""

    def tagged() -> T:
        spark.addTag(tag)  # of this thread
        return work()

    with ThreadPoolExecutor(1, thread_name_prefix="beside") as threads:
        begun = threads.submit(tagged)
        try:
            yield begun.result
        finally:
            _end(spark, tag, begun)


def _end(spark: SparkSession, tag: str, begun: Future[T]) -> None:
    """Again and again: it may be between two things that it asks of Spark."""
    while not begun.done():
        with suppress(Exception):  # a Spark that is gone does nothing any more
            spark.interruptTag(tag)
        wait([begun], _AGAIN_SECONDS)
