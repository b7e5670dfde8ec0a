"""How fast a run is being computed and how long it will take; measured, or by its estimate."""

from dataclasses import dataclass
from datetime import datetime

from backfill_platform.domain.chunks import ChunkRecord
from backfill_platform.domain.lifecycle import ChunkStatus
from backfill_platform.engine.look.status import RunStatus, seconds_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    rows_per_second: int | None  # of output; nothing before the first chunk is staged
    seconds_left: int | None  # nothing when nothing is left to compute
    is_measured: bool  # or taken from the estimate, because no chunk is staged yet


def measure_pace(status: RunStatus, now: datetime) -> Pace:
    ended = [chunk for chunk in status.chunks if chunk.output_count is not None]
    seconds = sum(seconds_of(chunk) or 0 for chunk in ended)
    rows = sum(chunk.output_count or 0 for chunk in ended)
    return Pace(
        rows_per_second=round(rows / seconds) if seconds > 0 else None,
        seconds_left=_seconds_left(status, ended, seconds, now),
        is_measured=bool(ended),
    )


def _seconds_left(
    status: RunStatus, ended: list[ChunkRecord], seconds: float, now: datetime
) -> int | None:
    """What each partition has taken, times those that are left, less what was spent on them."""
    left = status.partitions - status.staged
    if left == 0 or status.is_at_rest:
        return None
    done = sum(len(chunk.days) for chunk in ended)
    each = seconds / done if done else status.manifest.estimate.seconds.expected / status.partitions
    at_work = [chunk for chunk in status.chunks if chunk.status is ChunkStatus.CLAIMED]
    begun = sum(
        min((now - chunk.started_at).total_seconds(), each * len(chunk.days)) for chunk in at_work
    )
    return round(max(0.0, each * left - begun) / max(1, len(at_work)))
