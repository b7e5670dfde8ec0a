"""What a process and all below it take: processor time, and the most memory at any moment."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count

import psutil

LOOK_SECONDS = 2.0
# A look at gigabytes of a JVM takes tenths of a second, in which it waits for its memory.
_MEMORY_EACH = 5  # looks


@dataclass
class Usage:
    """Of some trees of processes, from a moment on. What has ended counts with what it had taken
    when it was seen last: nobody waits for the JVM of a run's own Spark."""

    roots: list[psutil.Process]
    peak_bytes: int = 0
    _began_with: float = 0.0
    _seen: dict[tuple[int, float], float] = field(default_factory=dict)  # by process
    _stop: threading.Event = field(default_factory=threading.Event)

    @property
    def cpu_seconds(self) -> float:
        return self._taken() - self._began_with

    @property
    def peak_gigabytes(self) -> float:
        return self.peak_bytes / 2**30

    def begin(self) -> None:
        self._began_with, self.peak_bytes = self._taken(), 0

    def watch(self) -> None:
        for number in count():
            if self._stop.wait(LOOK_SECONDS):
                return
            self._look()
            if number % _MEMORY_EACH == 0:
                self.peak_bytes = max(self.peak_bytes, _memory(self.roots))

    def stop(self) -> None:
        self._stop.set()

    def _taken(self) -> float:
        self._look()
        return sum([*self._seen.values()])  # a copy: the other thread may be looking

    def _look(self) -> None:
        for process in _trees(self.roots):
            with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
                key = (process.pid, process.create_time())
                self._seen[key] = float(sum(process.cpu_times()[:2]))


@contextmanager
def watched(*roots: int) -> Iterator[Usage]:
    usage = Usage([psutil.Process(root) for root in roots])
    usage.begin()
    thread = threading.Thread(target=usage.watch, daemon=True)
    thread.start()
    try:
        yield usage
    finally:
        usage.stop()
        thread.join()


def _memory(roots: list[psutil.Process]) -> int:
    """Shared pages count once: by their proportional share."""
    total = 0
    for process in _trees(roots):
        with suppress(psutil.NoSuchProcess, psutil.ZombieProcess, ProcessLookupError):
            total += process.memory_full_info().pss
    return total


def _trees(roots: list[psutil.Process]) -> Iterator[psutil.Process]:
    for root in roots:
        with suppress(psutil.NoSuchProcess):
            yield root
            yield from root.children(recursive=True)
