"""Renews something every so often beside the work that needs it, and stops with the work.

What is renewed, and whether it makes sense to try again, is the caller's to say.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

RENEW_SECONDS = 30.0


@contextmanager
def renewed(name: str, renew: Callable[[], bool], every_seconds: float) -> Iterator[None]:
    """`renew` tells whether to try again later."""
    done = threading.Event()

    def keep() -> None:
        while not done.wait(every_seconds) and renew():
            pass

    keeping = threading.Thread(target=keep, name=name, daemon=True)
    keeping.start()
    try:
        yield
    finally:
        done.set()
        keeping.join()
