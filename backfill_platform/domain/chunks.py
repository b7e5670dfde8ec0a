"""Chunks as the ledger remembers them, and how a claim may end."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import ChunkStatus
from backfill_platform.domain.partitions import DayRange


def build_chunk_id(days: DayRange) -> str:
    """The same days of a run are the same chunk, whoever cuts them."""
    return f"{days.start:%Y%m%d}-{days.last:%Y%m%d}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkCounts:
    """What staging a chunk read and wrote."""

    input_count: int | None = None  # nothing where counting would read the input once more
    output_count: int
    checksum: str  # over the chunk's partitions
    cost_usd: Decimal = Decimal(0)  # of what was read, at the rate of the estimate
    write_seconds: float | None = None  # Spark computes while it writes: both together


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRecord:
    run_id: RunId
    chunk_id: str
    days: DayRange
    status: ChunkStatus
    attempt: int
    worker: str
    fencing_token: int  # grows with every claim within the run; an older one may write nothing
    lease_expires_at: datetime
    input_count: int | None
    output_count: int | None
    checksum: str | None
    started_at: datetime
    finished_at: datetime | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedChunk:
    """The caller may compute these days, until the lease ends or somebody claims after that."""

    chunk_id: str
    days: DayRange
    attempt: int
    fencing_token: int
    lease_expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkBusy:
    """The days are not free: `holder` is at work on them, or has staged them in another cut."""

    holder: ChunkRecord
    reason: str

    @property
    def may_become_free(self) -> bool:
        """Whether waiting for the holder's lease can help."""
        return self.holder.status is ChunkStatus.CLAIMED


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkDone:
    """Exactly these days are staged already; what is next depends on the chunk's status."""

    chunk: ChunkRecord


ClaimOutcome = ClaimedChunk | ChunkBusy | ChunkDone
