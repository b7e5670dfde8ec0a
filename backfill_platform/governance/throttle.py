"""How long a run has to wait so that what it takes stays below its limits. Arithmetic only.

Invariant: measured from the beginning of a run's first chunk to the end of any chunk, the rows and
bytes that were read never exceed the limit (test_measured_throughput_never_exceeds_the_limit).
Idle time earns nothing: after a night's break a run does not go faster. Whoever computes asks here
how long to wait, waits, and asks again; sleeping and counting do not belong here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from decimal import Decimal

from backfill_platform.domain.limits import DailyWindow, Limits

ONE_HOUR = timedelta(hours=1)
ONE_DAY = timedelta(days=1)

_MICROSECONDS_PER_MINUTE = 60_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkTaken:
    """What a chunk has read so far; a failed attempt has read as well."""

    rows: int
    bytes: int
    started_at: datetime
    finished_at: datetime | None = None  # nothing while it computes or is held


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    limits: Limits
    chunks: tuple[ChunkTaken, ...] = ()  # all of the run
    commits: tuple[datetime, ...] = ()  # of the run to its target, at least those of an hour

    def seconds_until_next_chunk(self, now: datetime) -> float:
        """Until the pause is over, what was read is allowed, and the off-peak window is open."""
        ends = (chunk.finished_at for chunk in self.chunks if chunk.finished_at is not None)
        pauses = (end + timedelta(seconds=self.limits.pause_seconds) for end in ends)
        begin = max(now, self._allowed_at(now), *pauses)
        if self.limits.off_peak is not None:
            begin = _next_opening(self.limits.off_peak, begin)
        return _seconds(begin - now)

    def seconds_until_finished(self, now: datetime) -> float:
        """How long a chunk that has been computed, and is among the chunks, is still held."""
        return _seconds(self._allowed_at(now) - now)

    def seconds_until_commit(self, now: datetime) -> float:
        """Until another commit leaves no more than the allowed number in any hour."""
        allowed = self.limits.max_commits_per_hour
        if allowed is None or len(self.commits) < allowed:
            return 0.0
        return _seconds(max(now, sorted(self.commits)[-allowed] + ONE_HOUR) - now)

    def has_room(self, *, partitions_at_work: int, partitions: int) -> bool:
        """Whether a chunk may begin beside those at work; alone it may, as it cannot be smaller."""
        allowed = self.limits.max_partitions_at_once
        return (
            allowed is None or partitions_at_work == 0 or partitions_at_work + partitions <= allowed
        )

    def exceeded(self, *, cost_usd: Decimal) -> str | None:
        """Why the run has to stop, if it has to."""
        rows, limits = sum(chunk.rows for chunk in self.chunks), self.limits
        if limits.max_rows is not None and rows > limits.max_rows:
            return (
                f"it has read {rows:,} rows and may read {limits.max_rows:,}; plan a smaller "
                "range, or ask for a higher max_rows"
            )
        if limits.max_cost_usd is not None and cost_usd > limits.max_cost_usd:
            return (
                f"it has cost {cost_usd:.2f} USD and may cost {limits.max_cost_usd:.2f}; plan a "
                "smaller range, or ask for a higher max_cost_usd"
            )
        return None

    def _allowed_at(self, now: datetime) -> datetime:
        """When everything that was read has had its time, one chunk after the other."""
        moment = min((chunk.started_at for chunk in self.chunks), default=now)
        for chunk in sorted(self.chunks, key=lambda chunk: chunk.started_at):
            moment = max(moment, chunk.started_at) + self._time_for(chunk)
        return max(now, moment)

    def _time_for(self, chunk: ChunkTaken) -> timedelta:
        return timedelta(microseconds=max(self._microseconds_for(chunk), default=0))

    def _microseconds_for(self, chunk: ChunkTaken) -> Iterator[int]:
        taken = (
            (chunk.rows, self.limits.max_rows_per_minute),
            (chunk.bytes, self.limits.max_bytes_per_minute),
        )
        for amount, allowed in taken:
            if allowed is not None:
                yield -(-amount * _MICROSECONDS_PER_MINUTE // allowed)  # rounded up


def _next_opening(window: DailyWindow, at: datetime) -> datetime:
    if window.is_open(at):
        return at
    opening = datetime.combine(at.date(), time.fromisoformat(window.start), tzinfo=at.tzinfo)
    return opening if opening > at else opening + ONE_DAY


def _seconds(wait: timedelta) -> float:
    return wait.total_seconds()
