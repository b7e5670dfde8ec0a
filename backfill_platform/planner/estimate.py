"""What a run is expected to write, to take and to cost: ranges, and on what each of them rests.

Rows and bytes read are exact. The rest comes from what is to be replaced, from earlier chunks of
the same table, or else from defaults that say that they are defaults. Only integers
and decimals leave this file, so a manifest has one text.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from statistics import median, quantiles

from backfill_platform.domain.estimates import Cost, CostRate, Estimate, PastChunk, Span
from backfill_platform.domain.limits import Limits
from backfill_platform.planner.facts import TargetFacts
from backfill_platform.planner.wording import count_of
from backfill_platform.planner.workload import Workload

NEWEST_CHUNKS = 50
FEWEST_FOR_A_SPREAD = 3
FEWEST_TIMES_FOR_A_SPREAD = 10  # what a chunk takes varies with whatever else the machine does

# Where no chunk of the table has run yet: wide on purpose.
DEFAULT_ROWS_PER_SECOND = Span(low=2_000, expected=10_000, high=80_000)
DEFAULT_START_UP_SECONDS = 10  # of each chunk
DEFAULT_TIMES_FEWER, DEFAULT_TIMES_MORE = 100, 5  # rows than the days hold: it may be a summary
DEFAULT_BYTES_PER_ROW = 100
ABOUT = "give or take a third"

MILLION = Decimal(1_000_000)
CENT, SMALL_CENT = Decimal("0.01"), Decimal("0.0001")


@dataclass(frozen=True, slots=True)
class _Guess:
    """Exact fractions until the very end; `basis` says what they rest on."""

    low: Fraction
    expected: Fraction
    high: Fraction
    basis: str

    def times(self, factor: Fraction | int, *, plus: Fraction | int = 0) -> "_Guess":
        low, expected, high = (one * factor + plus for one in (self.low, self.expected, self.high))
        return _Guess(low, expected, high, self.basis)

    def at_least(self, floor: Fraction) -> "_Guess":
        low, expected, high = (max(one, floor) for one in (self.low, self.expected, self.high))
        return _Guess(low, expected, high, self.basis)

    def spanning(self, other: "_Guess") -> "_Guess":
        low, high = min(self.low, other.low), max(self.high, other.high)
        return _Guess(low, (self.expected + other.expected) / 2, high, self.basis)

    def whole(self) -> Span:
        return Span(
            low=math.floor(self.low), expected=round(self.expected), high=math.ceil(self.high)
        )


def estimate_run(
    work: Workload,
    *,
    past_chunks: Sequence[PastChunk],  # of this table, the newest first
    target: TargetFacts,
    rate: CostRate,
    limits: Limits,
) -> Estimate:
    past = tuple(past_chunks[:NEWEST_CHUNKS])
    rows_out = _guess_rows_out(work, past, target)
    bytes_per_row, bytes_basis = _bytes_per_row(work, target)
    seconds = _guess_seconds(work, past)
    return Estimate(
        rows_read=work.rows,
        bytes_read=work.bytes,
        rows_out=rows_out.whole(),
        bytes_out=rows_out.times(bytes_per_row).whole(),
        seconds=_within_limits(seconds, work, limits).at_least(Fraction(1)).whole(),
        cost_usd=reckon_cost(work.rows, rate),
        basis=(
            *_reading_basis(work),
            rows_out.basis,
            bytes_basis,
            seconds.basis,
            *_limits_basis(limits),
            f"cost at {rate.low} to {rate.high} US dollars for a million rows read",
        ),
    )


def reckon_cost(rows_read: int, rate: CostRate) -> Cost:
    """In cents, or in hundredths of a cent where cents would show nothing."""
    low, high = (Decimal(rows_read) * one / MILLION for one in (rate.low, rate.high))
    step = CENT if low >= CENT else SMALL_CENT
    low, expected, high = (
        one.quantize(step, rounding=ROUND_HALF_UP) for one in (low, (low + high) / 2, high)
    )
    return Cost(low=low, expected=expected, high=high)


def _guess_rows_out(work: Workload, past: Sequence[PastChunk], target: TargetFacts) -> _Guess:
    """By partition, and not by the rows that were read: much of those may be warm-up."""
    held = [rows for _, rows in sorted(target.rows.items())]
    by_partition = [Fraction(one.rows_out, one.partitions) for one in past if one.partitions]
    if held and (len(held) * 2 >= work.partitions or not by_partition):
        basis = f"rows written as {count_of(len(held), 'partition')} to replace hold now, {ABOUT}"
        return _about(Fraction(sum(held), len(held)), basis).times(work.partitions)
    if by_partition:
        basis = f"rows written from {_chunks(by_partition)}, by partition"
        return _spread(by_partition, basis).times(work.partitions)
    return _default_rows_out(work)


def _about(amount: Fraction, basis: str) -> _Guess:
    return _Guess(amount * Fraction(3, 4), amount, amount * Fraction(4, 3), basis)


def _default_rows_out(work: Workload) -> _Guess:
    rows, fewer, more = Fraction(work.own_rows), DEFAULT_TIMES_FEWER, DEFAULT_TIMES_MORE
    basis = (
        "rows written guessed from the rows of the days to publish, since this table has neither "
        f"been run nor filled yet: from {fewer} times fewer to {more} times more"
    )
    return _Guess(rows / fewer, rows, rows * more, basis)


def _bytes_per_row(work: Workload, target: TargetFacts) -> tuple[Fraction, str]:
    rows, size = sum(target.rows.values()), sum(target.bytes.values())
    if rows and size:
        return Fraction(size, rows), f"bytes written at {size // rows} a row, as the target holds"
    if work.rows and work.bytes:
        each = Fraction(work.bytes, work.rows)
        return each, f"bytes written at {int(each)} a row, as the inputs hold"
    default = DEFAULT_BYTES_PER_ROW
    return Fraction(default), f"bytes written at a default of {default} a row"


def _guess_seconds(work: Workload, past: Sequence[PastChunk]) -> _Guess:
    """By the rows read and by the partitions written: which of the two a transform's time follows
    is not known, so the range covers both."""
    timed = [one for one in past if one.partitions and one.seconds > 0]
    if not timed:
        return _default_seconds(work)
    start_up, fewest = _start_up(timed), FEWEST_TIMES_FOR_A_SPREAD
    by_partition = [(Fraction(one.seconds) - start_up) / one.partitions for one in timed]
    basis = f"duration from {_chunks(by_partition, fewest)}, by partition"
    guess = _spread(by_partition, basis, fewest).times(work.partitions)
    counted = [one for one in timed if one.rows_read]
    if counted:
        by_rows = [(Fraction(one.seconds) - start_up) / (one.rows_read or 1) for one in counted]
        basis = f"duration from {_chunks(by_rows, fewest)}, by rows read and by partition"
        guess = _spread(by_rows, basis, fewest).times(work.rows_by_chunks).spanning(guess)
    return guess.times(1, plus=start_up * len(work.parts))


def _start_up(past: Iterable[PastChunk]) -> Fraction:
    return min(Fraction(one.seconds) for one in past) / 2


def _default_seconds(work: Workload) -> _Guess:
    rate, start_up = DEFAULT_ROWS_PER_SECOND, DEFAULT_START_UP_SECONDS
    basis = (
        f"no run of this table yet: duration at a default of {rate.expected:,} rows a second, "
        f"from {rate.low:,} to {rate.high:,}, and {start_up} seconds for each chunk to start"
    )
    fast, usual, slow = (Fraction(1, one) for one in (rate.high, rate.expected, rate.low))
    pace = _Guess(fast, usual, slow, basis)
    return pace.times(work.rows_by_chunks, plus=start_up * len(work.parts))


def _within_limits(seconds: _Guess, work: Workload, limits: Limits) -> _Guess:
    """Throttled, a run takes at least what its limits leave; pauses come on top."""
    allowed = limits.max_rows_per_minute
    floor = Fraction(60 * work.rows_by_chunks, allowed) if allowed else Fraction(0)
    pauses = limits.pause_seconds * (len(work.chunks) - 1)
    return seconds.at_least(floor).times(1, plus=pauses)


def _limits_basis(limits: Limits) -> Iterable[str]:
    if limits.max_rows_per_minute is not None:
        yield f"duration is at least what {limits.max_rows_per_minute:,} rows a minute allow"
    if limits.pause_seconds:
        yield f"duration holds the pauses of {limits.pause_seconds} seconds between chunks"


def _reading_basis(work: Workload) -> Iterable[str]:
    if work.unchanged:
        yield (
            f"{count_of(work.unchanged, 'partition')} of "
            f"{work.unchanged + work.partitions} would come out as they are, and are not computed"
        )
    if work.rows_by_chunks != work.rows:
        yield (
            f"the {len(work.parts)} chunks read {work.rows_by_chunks:,} rows in all, since days "
            "that two chunks need are read twice"
        )


def _spread(samples: Sequence[Fraction], basis: str, fewest: int = FEWEST_FOR_A_SPREAD) -> _Guess:
    """The middle, and what a tenth of the samples lie below and above."""
    if len(samples) < fewest:
        middle = Fraction(median(samples))
        return _Guess(middle / 2, middle, middle * 2, basis)
    tenths = quantiles(samples, n=10, method="inclusive")
    return _Guess(tenths[0], tenths[4], tenths[8], basis)


def _chunks(samples: Sequence[Fraction], fewest: int = FEWEST_FOR_A_SPREAD) -> str:
    few = len(samples) < fewest
    number = f"{count_of(len(samples), 'earlier chunk')} of this table"
    return f"{number} (few, so from half to twice)" if few else number
