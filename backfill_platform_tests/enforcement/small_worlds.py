"""Small worlds of cases for Hypothesis: short lives around days on which clocks change, with late,
repeated, corrected and retracted events in any order.
"""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from hypothesis import strategies as st

from backfill_platform.enforcement.lifecycle import CASE_CLASSES, EVENT_TYPES, JURISDICTIONS
from backfill_platform_tests.enforcement.oracle import Delivered

# Clocks change in Berlin and London, New York and California, Sydney and Auckland, Cairo (at
# midnight, so that a day has no beginning); the last one is a run of holidays.
EVENTFUL_DAYS = (
    date(2025, 3, 30),
    date(2025, 3, 9),
    date(2025, 4, 6),
    date(2025, 4, 25),
    date(2025, 10, 31),
    date(2025, 11, 2),
    date(2024, 12, 27),
)

_minutes = st.integers(0, 24 * 60 - 1)
_step_minutes = st.sampled_from((0, 7, 60, 9 * 60, 20 * 60, 31 * 60, 3 * 1440, 8 * 1440))
_lateness_days = st.sampled_from((0, 0, 0, 1, 2, 6, 21, 33))
_variants = st.sampled_from(("once", "once", "once", "twice", "corrected", "retracted"))
_later_types = st.sampled_from(EVENT_TYPES[1:])
_events = st.lists(
    st.tuples(_later_types, _step_minutes, _lateness_days, _variants), min_size=0, max_size=7
)


@st.composite
def _case(draw: st.DrawFn, number: int, around: date) -> list[Delivered]:
    jurisdiction = draw(st.sampled_from(JURISDICTIONS))
    opened_on = around - timedelta(days=draw(st.sampled_from((0, 1, 3, 10, 20, 44, 60))))
    at = datetime(opened_on.year, opened_on.month, opened_on.day, tzinfo=UTC)
    at += timedelta(minutes=draw(_minutes))
    case_class = draw(st.sampled_from(CASE_CLASSES))
    opening = ("opened", 0, draw(_lateness_days), draw(_variants))
    deliveries: list[Delivered] = []
    for place, (event_type, step, lateness, variant) in enumerate([opening, *draw(_events)]):
        at += timedelta(minutes=step, seconds=place)
        first = Delivered(
            case_id=f"case-{number}",
            jurisdiction=jurisdiction,
            case_class=case_class,
            event_id=f"case-{number}-{place}",
            event_type=event_type,
            occurred_at=at,
            effective_at=_effective_at(event_type, at, lateness),
            version=1,
            op="u",
            arrival_date=at.date() + timedelta(days=lateness),
        )
        deliveries += _delivered(first, variant, lateness)
    return deliveries


def small_worlds(around: date, most_cases: int) -> st.SearchStrategy[list[Delivered]]:
    cases = st.integers(most_cases // 2, most_cases).flatmap(
        lambda count: st.tuples(*(_case(number, around) for number in range(count)))
    )
    return cases.map(lambda found: [event for case in found for event in case])


def _effective_at(event_type: str, at: datetime, lateness: int) -> datetime | None:
    """Decisions have effect at once, earlier or later, as their lateness happens to say."""
    if event_type == "decision_effective":
        return at + timedelta(hours=30) if lateness == 1 else None
    if event_type == "decision_amended":
        return at + timedelta(hours=50 if lateness else -75)
    return None


def _delivered(first: Delivered, variant: str, lateness: int) -> list[Delivered]:
    again = first.arrival_date + timedelta(days=2 + lateness % 4)
    match variant:
        case "twice":
            return [first, replace(first, arrival_date=again)]
        case "corrected":
            moved = first.occurred_at + timedelta(hours=14 if lateness else -14)
            corrected = replace(first, occurred_at=moved, version=2, arrival_date=again)
            return [corrected, first]
        case "retracted":
            return [first, replace(first, op="d", version=3, arrival_date=again)]
        case _:
            return [first]
