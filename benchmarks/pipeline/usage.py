"""What a process and all below it take: processor time, and the most memory at any moment."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import psutil

LOOK_SECONDS = 2.0  # a look at gigabytes of a JVM takes a tenth of a second


@dataclass
class Usage:
    """Of some trees of processes, from a moment on."""

    roots: list[psutil.Process]
    began_with: float = 0.0
    peak_bytes: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)

    @property
    def cpu_seconds(self) -> float:
        return _cpu(self.roots) - self.began_with

    @property
    def peak_gigabytes(self) -> float:
        return self.peak_bytes / 2**30

    def begin(self) -> None:
        self.began_with, self.peak_bytes = _cpu(self.roots), 0

    def watch(self) -> None:
        while not self._stop.wait(LOOK_SECONDS):
            self.peak_bytes = max(self.peak_bytes, _memory(self.roots))

    def stop(self) -> None:
        self._stop.set()


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


def _cpu(roots: list[psutil.Process]) -> float:
    """What has ended counts with whoever waited for it."""
    return _sum(roots, lambda process: float(sum(process.cpu_times()[:4])))


def _memory(roots: list[psutil.Process]) -> int:
    """Shared pages count once: by their proportional share."""
    return int(_sum(roots, lambda process: float(process.memory_full_info().pss)))


def _sum(roots: list[psutil.Process], of: Callable[[psutil.Process], float]) -> float:
    total = 0.0
    for process in _trees(roots):
        with suppress(psutil.NoSuchProcess, psutil.ZombieProcess, ProcessLookupError):
            total += of(process)
    return total


def _trees(roots: list[psutil.Process]) -> Iterator[psutil.Process]:
    for root in roots:
        with suppress(psutil.NoSuchProcess):
            yield root
            yield from root.children(recursive=True)
