"""What one call takes: seconds on the wall and of the processor, and the peak of its process."""

import resource
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

_KILOBYTES = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    wall_seconds: float
    work_seconds: float  # of the processor, all threads
    again_seconds: float | None  # on the wall, the best of the calls after the first
    peak_megabytes: float  # of the whole process
    before_megabytes: float  # of it when the call began: programs, catalog and policy

    def to_plain(self) -> dict[str, Any]:
        return asdict(self)


def measure(call: Callable[[], object], *, again: int) -> Taken:
    before = _peak()
    wall, work = _timed(call)
    peak = _peak()
    walls = [_timed(call)[0] for _ in range(again)]
    return Taken(
        wall_seconds=wall,
        work_seconds=work,
        again_seconds=min(walls, default=None),
        peak_megabytes=max(peak, _peak()),
        before_megabytes=before,
    )


def _timed(call: Callable[[], object]) -> tuple[float, float]:
    wall, work = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - work


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _KILOBYTES
