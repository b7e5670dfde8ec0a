"""What the ledger can say of itself in numbers: counts that only grow, and how things stand now.

Counts are kept for good, because what they were taken from is overwritten: a chunk that is computed
again forgets what it took before. What they are called outside is decided in `telemetry`.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.modes import ExecutionMode, RunKind

SECONDS = (1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200)
COMMIT_SECONDS = (1, 2, 5, 10, 30, 60, 300, 900)
WRITE_MILLISECONDS = (100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 300_000, 1_800_000)

BEYOND = "+Inf"  # the bucket of what is above every bound


class Counted(StrEnum):
    INPUT_ROWS = "input_rows"  # read by chunks that were staged
    OUTPUT_ROWS = "output_rows"  # staged by them
    REJECTED_ROWS = "rejected_rows"  # set aside by their transforms
    CHUNKS = "chunks"  # by the status that they came to
    STRAYED_VERDICTS = "strayed_verdicts"  # by gate and outcome
    PLANNED_MICRODOLLARS = "planned_microdollars"  # as plans estimated them
    COMPUTED_MICRODOLLARS = "computed_microdollars"  # at the same rate, of what was read
    CHUNKS_BY_SECONDS = "chunks_by_seconds"  # by bucket; from the claim to the measurement
    CHUNK_MILLISECONDS = "chunk_milliseconds"  # of all of them
    WRITES_BY_MILLISECONDS = "writes_by_milliseconds"  # by bucket; of a chunk's rows to staging
    WRITE_MILLISECONDS = "write_milliseconds"  # of all of them
    COMMITS_BY_SECONDS = "commits_by_seconds"  # by bucket; from the intent to the fact
    COMMIT_MILLISECONDS = "commit_milliseconds"  # of all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """Something to add to what is counted already."""

    counted: Counted
    word: str = ""  # what it is counted by, besides table, kind and mode
    amount: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What has been counted so far."""

    counted: Counted
    table: str
    kind: RunKind
    mode: ExecutionMode
    word: str
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsInState:
    table: str
    kind: RunKind
    state: RunState
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LongestInState:
    """Of runs that may still publish: since when the one that has been there longest is there."""

    table: str
    state: RunState
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How far what consumers see of a table reaches."""

    table: str
    last_day: date
    partitions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerFigures:
    tallies: tuple[Tally, ...]
    runs: tuple[RunsInState, ...]
    longest: tuple[LongestInState, ...]
    reaches: tuple[Reach, ...]


def count_chunk(taken: timedelta) -> tuple[Count, ...]:
    return _observed(Counted.CHUNKS_BY_SECONDS, Counted.CHUNK_MILLISECONDS, SECONDS, taken, 1000)


def count_commit(taken: timedelta) -> tuple[Count, ...]:
    kinds = (Counted.COMMITS_BY_SECONDS, Counted.COMMIT_MILLISECONDS)
    return _observed(*kinds, COMMIT_SECONDS, taken, 1000)


def count_write(taken: timedelta) -> tuple[Count, ...]:
    kinds = (Counted.WRITES_BY_MILLISECONDS, Counted.WRITE_MILLISECONDS)
    return _observed(*kinds, WRITE_MILLISECONDS, taken, 1)


def count_dollars(counted: Counted, dollars: Decimal) -> Count:
    return Count(counted=counted, amount=round(dollars * 1_000_000))


def _observed(
    by_bucket: Counted,
    in_all: Counted,
    bounds: Sequence[int],
    taken: timedelta,
    milliseconds_of_unit: int,
) -> tuple[Count, ...]:
    """A clock that was set back gives no time below nothing."""
    milliseconds = max(0, round(taken / timedelta(milliseconds=1)))
    place = bisect_left(bounds, milliseconds / milliseconds_of_unit)
    word = str(bounds[place]) if place < len(bounds) else BEYOND
    return Count(counted=by_bucket, word=word), Count(counted=in_all, amount=milliseconds)
