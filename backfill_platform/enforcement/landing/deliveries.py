"""When each event of a block of cases is delivered, and what is delivered besides it.

Most events come on their day, some up to three weeks late; a few come twice, are corrected under a
higher source version, or are retracted by a tombstone. A function of (seed, cohort day) alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from datetime import date
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from backfill_platform.enforcement.landing.timelines import (
    CASES_PER_BLOCK,
    DAY_SECONDS,
    LONGEST_LIFE_DAYS,
    Timelines,
    build_timelines,
    random_block,
)

LATEST_DAYS = 21
HORIZON_DAYS = LONGEST_LIFE_DAYS + LATEST_DAYS + 4  # nothing of a cohort arrives after this
EVENTS_PER_CASE = 7.71  # deliveries for each case, with everything below

_PUNCTUAL = 0.81
_CORRECTED, _REPEATED, _RETRACTED = 0.020, 0.015, 0.004

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Deliveries:
    """One entry per delivered row; days and seconds count from the cohort's day."""

    arrival: NDArray[np.int16]
    case: NDArray[np.int32]  # the case's number in its cohort
    slot: NDArray[np.int8]
    version: NDArray[np.int8]
    deleted: NDArray[np.bool_]
    occurred: Integers
    effective: Integers
    emitted: Integers
    jurisdiction: NDArray[np.int8]
    case_class: NDArray[np.int8]

    def take(self, chosen: NDArray[np.bool_] | Integers) -> Self:
        return type(self)(*(getattr(self, field.name)[chosen] for field in fields(self)))

    @classmethod
    def join(cls, parts: list[Self]) -> Self:
        return cls(
            *(
                np.concatenate([getattr(part, field.name) for part in parts])
                for field in fields(cls)
            )
        )


def cohort_size(events_per_day: int) -> int:
    return max(1, round(events_per_day / EVENTS_PER_CASE))


def arriving(seed: int, cohort_day: date, cases: int, arrival: int) -> Iterator[Deliveries]:
    """Block by block, what of a cohort is delivered `arrival` days after its cases opened."""
    for block, size in _blocks(cases):
        yield _block(seed, cohort_day, block, size, arrival)


@lru_cache(maxsize=2 * HORIZON_DAYS)
def whole_cohort(seed: int, cohort_day: date, cases: int) -> tuple[Deliveries, ...]:
    """The same by day of arrival, kept, for ranges of small days."""
    cohort = Deliveries.join(
        [_block(seed, cohort_day, block, size, None) for block, size in _blocks(cases)]
    )
    return tuple(cohort.take(cohort.arrival == arrival) for arrival in range(HORIZON_DAYS))


def _blocks(cases: int) -> Iterator[tuple[int, int]]:
    for block in range(-(-cases // CASES_PER_BLOCK)):
        yield block, min(cases - block * CASES_PER_BLOCK, CASES_PER_BLOCK)


def _block(seed: int, day: date, block: int, cases: int, arrival: int | None) -> Deliveries:
    """All deliveries of a block, or those of one arrival day; in the same order either way."""
    timelines = build_timelines(seed, day, block, cases)
    shape = (*timelines.happens.shape, 4)
    drawn = random_block(seed, day, block, purpose=1).random(shape, np.float32)
    chosen = timelines.happens
    if arrival is not None:
        chosen = chosen & _may_arrive(timelines, drawn, arrival)
    case, slot = np.nonzero(chosen)
    drawn = drawn[case, slot]
    originals = _originals(timelines, case, slot, drawn, first_case=block * CASES_PER_BLOCK)
    kind = drawn[:, 2]
    repeated = (kind >= _CORRECTED) & (kind < _CORRECTED + _REPEATED)
    deliveries = Deliveries.join(
        [
            originals,
            *(
                again(originals.take(affected), drawn[affected])
                for affected, again in (
                    (kind < _CORRECTED, _corrections),
                    (repeated, _repetitions),
                    (kind > 1 - _RETRACTED, _tombstones),
                )
            ),
        ]
    )
    return deliveries if arrival is None else deliveries.take(deliveries.arrival == arrival)


def _may_arrive(
    timelines: Timelines, drawn: NDArray[np.float32], arrival: int
) -> NDArray[np.bool_]:
    """Leaves out the bulk of a block cheaply: what is punctual, delivered once, on another day."""
    day_before = timelines.occurred >= (arrival - 1) * DAY_SECONDS
    on_time = day_before & (timelines.occurred < (arrival + 1) * DAY_SECONDS)
    kind = drawn[:, :, 2]
    is_special = (kind < _CORRECTED + _REPEATED) | (kind > 1 - _RETRACTED)
    return on_time | (drawn[:, :, 0] > _PUNCTUAL) | is_special


def _originals(
    timelines: Timelines,
    case: Integers,
    slot: Integers,
    drawn: NDArray[np.float32],
    first_case: int,
) -> Deliveries:
    occurred = timelines.occurred[case, slot]
    emitted = occurred + 1 + (drawn[:, 1] * 300).astype(np.int64)
    return Deliveries(
        arrival=_day(emitted) + _lateness(drawn[:, 0]),
        case=(case + first_case).astype(np.int32),
        slot=slot.astype(np.int8),
        version=np.ones(len(case), dtype=np.int8),
        deleted=np.zeros(len(case), dtype=np.bool_),
        occurred=occurred,
        effective=occurred + timelines.effective_after[case, slot],
        emitted=emitted,
        jurisdiction=timelines.jurisdiction[case],
        case_class=timelines.case_class[case],
    )


def _lateness(chance: NDArray[np.float32]) -> NDArray[np.int16]:
    """81% on the day, 13% on the next, 4% within five days, 2% within three weeks."""
    late = np.zeros(len(chance), dtype=np.int16)
    late[chance > _PUNCTUAL] = 1
    few = chance > 0.94
    late[few] = 2 + ((chance[few] - 0.94) / 0.04 * 4).astype(np.int16)
    many = chance > 0.98
    late[many] = 6 + np.minimum((chance[many] - 0.98) / 0.02 * 15, 14).astype(np.int16)
    return late


def _corrections(of: Deliveries, drawn: NDArray[np.float32]) -> Deliveries:
    """The same event under version 2: it had happened up to eighteen hours earlier or later."""
    shift = ((drawn[:, 3] - 0.5) * 1.5 * DAY_SECONDS).astype(np.int64)
    occurred = np.maximum(of.occurred + shift, 0)
    days_later = 1 + (drawn[:, 1] * 9).astype(np.int16)
    return _again(of, days_later, occurred=occurred, version=2, deleted=False)


def _tombstones(of: Deliveries, drawn: NDArray[np.float32]) -> Deliveries:
    days_later = 1 + (drawn[:, 1] * 11).astype(np.int16)
    return _again(of, days_later, occurred=of.occurred, version=3, deleted=True)


def _again(
    of: Deliveries,
    days_later: NDArray[np.int16],
    occurred: Integers,
    version: int,
    *,
    deleted: bool,
) -> Deliveries:
    day = _day(occurred)
    arrival = np.clip(of.arrival + days_later, day, day + LATEST_DAYS).astype(np.int16)
    return Deliveries(
        arrival=arrival,
        case=of.case,
        slot=of.slot,
        version=np.full(len(of.case), version, dtype=np.int8),
        deleted=np.full(len(of.case), deleted, dtype=np.bool_),
        occurred=occurred,
        effective=of.effective - of.occurred + occurred,
        emitted=np.maximum(arrival.astype(np.int64) * DAY_SECONDS, occurred) + of.emitted % 60,
        jurisdiction=of.jurisdiction,
        case_class=of.case_class,
    )


def _repetitions(of: Deliveries, drawn: NDArray[np.float32]) -> Deliveries:
    """Exactly the same row once more, half of them on the same day."""
    days_later = np.maximum((drawn[:, 1] - 0.5) * 10, 0).astype(np.int16)
    latest = _day(of.occurred) + LATEST_DAYS
    arrival = np.maximum(np.minimum(of.arrival + days_later, latest), of.arrival)
    return replace(of, arrival=arrival.astype(np.int16))


def _day(seconds: Integers) -> NDArray[np.int16]:
    return (seconds // DAY_SECONDS).astype(np.int16)
