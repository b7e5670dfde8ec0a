"""What happens to the cases that open on one day: a function of (seed, day) alone.

Each case passes fixed slots in order (opened, three rounds of evidence, a decision, …), some of
them left out. When the events are delivered is decided in `deliveries`.
"""

from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from backfill_platform.enforcement.lifecycle import CASE_CLASSES, JURISDICTIONS, EventType

CASES_PER_BLOCK = 1 << 15  # small enough for the processor's cache
LONGEST_LIFE_DAYS = 36
DAY_SECONDS = 86_400

# Slot by slot: the event, the part of the case's life in which it falls, and how often it happens.
_SLOTS = (
    (EventType.OPENED, 0.00, 0.00, 1.00),
    (EventType.EVIDENCE_REQUESTED, 0.04, 0.11, 0.85),
    (EventType.EVIDENCE_RECEIVED, 0.12, 0.22, 1.00),
    (EventType.EVIDENCE_REQUESTED, 0.23, 0.28, 0.65),
    (EventType.EVIDENCE_RECEIVED, 0.29, 0.39, 1.00),
    (EventType.EVIDENCE_REQUESTED, 0.40, 0.45, 0.45),
    (EventType.EVIDENCE_RECEIVED, 0.46, 0.56, 1.00),
    (EventType.ESCALATED, 0.10, 0.90, 0.25),
    (EventType.DECISION_EFFECTIVE, 0.60, 0.75, 0.92),
    (EventType.DECISION_AMENDED, 0.76, 0.80, 0.12),
    (EventType.REOPENED, 0.81, 0.86, 0.15),
    (EventType.DECISION_EFFECTIVE, 0.88, 0.94, 0.90),
    (EventType.CLOSED, 1.00, 1.00, 1.00),
)
SLOT_EVENTS = tuple(slot[0] for slot in _SLOTS)
_EARLIEST = np.array([slot[1] for slot in _SLOTS], dtype=np.float32)
_LATEST = np.array([slot[2] for slot in _SLOTS], dtype=np.float32)
_FREQUENCY = np.array([slot[3] for slot in _SLOTS], dtype=np.float32)
# A slot that only makes sense after another one: evidence received after the request, and so on.
_REQUIRES = {2: 1, 4: 3, 6: 5, 9: 8, 10: 8, 11: 10}

_JURISDICTION_SHARES = np.array([8, 9, 9, 5, 10, 14, 11, 9, 4, 5, 8, 8], dtype=np.float64)
_CLASS_SHARES = np.array([45, 25, 20, 10], dtype=np.float64)

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Timelines:
    """Cases in rows, slots in columns; seconds count from the start of the cohort's day in UTC."""

    jurisdiction: NDArray[np.int8]
    case_class: NDArray[np.int8]
    occurred: Integers
    effective_after: Integers  # what a decision's effective instant adds to its occurrence
    happens: NDArray[np.bool_]


def random_block(seed: int, day: date, block: int, purpose: int) -> np.random.Generator:
    """A counter-based generator for one block, so that no block depends on another."""
    key = np.array([seed, day.toordinal() << 32 | block << 4 | purpose], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key))


def build_timelines(seed: int, day: date, block: int, cases: int) -> Timelines:
    """Draws case after case, so that a case is the same whatever the size of its cohort."""
    slots = len(_SLOTS)
    drawn = random_block(seed, day, block, purpose=0).random((cases, 2 * slots + 6), np.float32)
    within_slot, chance, of_case = np.split(drawn, [slots, 2 * slots], axis=1)
    opened = (of_case[:, 0] * DAY_SECONDS).astype(np.int64)
    life_days = np.minimum(3 - 8 * np.log1p(-of_case[:, 1]), LONGEST_LIFE_DAYS)
    share = _EARLIEST + within_slot * (_LATEST - _EARLIEST)
    after = (share * (life_days * DAY_SECONDS)[:, None]).astype(np.int64)
    return Timelines(
        jurisdiction=_pick(of_case[:, 2], _JURISDICTION_SHARES),
        case_class=_pick(of_case[:, 3], _CLASS_SHARES),
        occurred=opened[:, None] + after,
        effective_after=_effective_after(of_case[:, 4], of_case[:, 5]),
        happens=_happens(chance),
    )


def _happens(chance: Floats) -> NDArray[np.bool_]:
    happens = chance < _FREQUENCY
    for slot, required in _REQUIRES.items():
        happens[:, slot] &= happens[:, required]
    return happens


def _effective_after(for_decision: Floats, for_amendment: Floats) -> Integers:
    """Most decisions have effect at once; an amendment moves the effect by days, either way."""
    seconds = np.zeros((len(for_decision), len(_SLOTS)), dtype=np.int64)
    later = np.maximum(for_decision - 0.7, 0) / 0.3 * 2 * DAY_SECONDS
    seconds[:, 8] = seconds[:, 11] = later.astype(np.int64)
    seconds[:, 9] = ((for_amendment * 6 - 4) * DAY_SECONDS).astype(np.int64)
    return seconds


def _pick(drawn: Floats, shares: NDArray[np.float64]) -> NDArray[np.int8]:
    bounds = np.cumsum(shares / shares.sum())[:-1]
    return np.searchsorted(bounds, drawn, side="right").astype(np.int8)


assert len(_JURISDICTION_SHARES) == len(JURISDICTIONS)
assert len(_CLASS_SHARES) == len(CASE_CLASSES)
