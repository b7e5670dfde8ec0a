"""Counts what the inputs say while the chunk is computed: Spark leaves a core idle again and again,
the more so the smaller the days are.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Counted = TypeVar("Counted")


@contextmanager
def meanwhile(count: Callable[[], Counted]) -> Iterator[Callable[[], Counted]]:
    """Gives a function that waits for the count, and raises what has gone wrong with it. The block
    ends after the count: nothing is at work on a chunk that somebody else may claim."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="count-inputs") as beside:
        yield beside.submit(count).result
