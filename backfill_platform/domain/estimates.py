"""What a run is expected to take: a range, because a single number would claim to know.

What the Delta logs hold is exact; what has to be guessed from earlier runs says what it rests on.
"""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    low: int
    expected: int
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """US dollars."""

    low: Decimal
    expected: Decimal
    high: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    rows_read: int  # of all inputs over the whole input range
    bytes_read: int
    rows_out: Span
    bytes_out: Span
    seconds: Span
    cost_usd: Cost
    basis: tuple[str, ...]  # what each of the guesses rests on, as sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRate:
    """US dollars for a million rows read, as requirement and finance give them: a range."""

    low: Decimal
    high: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class PastChunk:
    """What computing a chunk of the same table took before."""

    rows_read: int | None
    rows_out: int
    seconds: float
    partitions: int
