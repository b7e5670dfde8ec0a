"""Whether all that the days of a run may use has arrived: which windows are still open.

A day's window ends with its last late day. It is closed once that day has ended and every input
holds it, or a later one. What follows from an open one, the table's watermark policy says: the day
is computed from what is there and named in the manifest, or the plan is refused until it is closed.
That nothing closes a window early needs no look: a day reads its own window by partitions, whatever
else its chunk reads (test_no_cut_and_no_order_closes_a_window_early).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from backfill_platform.domain.findings import Check, Finding, Severity
from backfill_platform.domain.partitions import ONE_DAY, DayRange, PartitionSet
from backfill_platform.domain.quality import WatermarkPolicy
from backfill_platform.domain.tables import Input, TableSpec
from backfill_platform.planner.conclude import Note, conclude
from backfill_platform.planner.draft import Draft
from backfill_platform.planner.scope import input_days, input_window, missing_days, needed_days
from backfill_platform.planner.wording import count_of, name_days


def windows_complete(draft: Draft) -> Finding:
    return conclude(
        Check.WINDOWS_COMPLETE,
        _notes(draft),
        otherwise="the window of every day has ended, and is there",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lack:
    """Days of the run whose window lacks something of one input, and what."""

    days: tuple[date, ...]
    what: str


def _notes(draft: Draft) -> Iterator[Note]:
    still_open = tuple(_late_days_to_come(draft))
    if draft.spec.quality.watermark is WatermarkPolicy.BY_COMPLETE_WINDOW:
        lacks = (*still_open, *_holes_in_windows(draft))
        if lacks:
            yield Severity.REFUSE, _refusal(draft, lacks)
    elif still_open:
        days = _all_days(still_open)
        yield (
            Severity.WARN,
            f"the windows of {count_of(len(days), 'day')} are still open ({days}): "
            f"{_all_that_lacks(still_open)}. They are computed from what is there; what arrives "
            "later takes another run",
        )


def _late_days_to_come(draft: Draft) -> Iterator[_Lack]:
    for used in _inputs(draft):
        settled = _settled_until(draft, used)
        after = timedelta(days=input_window(used, draft.intent.knowledge).after_days)
        days = tuple(day for day in draft.intent.days if settled and day + after > settled)
        if days:
            yield _Lack(days=days, what=_waits_for(draft, used, until=days[-1] + after))


def _holes_in_windows(draft: Draft) -> Iterator[_Lack]:
    for used in _inputs(draft):
        holes, window = _holes(draft, used), input_window(used, draft.intent.knowledge)
        days = tuple(
            day
            for day in draft.intent.days
            if not holes.isdisjoint(input_days(DayRange.of_day(day), window))
        )
        if days:
            yield _Lack(days=days, what=f"{used.name} holds nothing for {name_days(holes)}")


def settled_until(last_held: date | None, *, yesterday: date) -> date | None:
    """What an input that has come so far will get no more rows for: no day that has not ended."""
    return None if last_held is None else min(last_held, yesterday)


def _settled_until(draft: Draft, used: Input) -> date | None:
    """The last day that has ended and landed; an input that holds nothing is refused as such."""
    known, yesterday = draft.facts.inputs[used.name], draft.today - ONE_DAY
    if known.days_present is None:
        return None
    last = None if known.holds_later else known.days_present.span.last
    return yesterday if last is None else settled_until(last, yesterday=yesterday)


def _waits_for(draft: Draft, used: Input, *, until: date) -> str:
    if until >= draft.today:
        return f"{used.name} takes arrivals for them until {until} has ended"
    return f"{used.name} holds nothing yet of {until}, until which it takes arrivals for them"


def _holes(draft: Draft, used: Input) -> frozenset[date]:
    """Days that should be there by now; one without rows is a fact where a table may be empty."""
    declared = draft.catalog.sources.get(used.name) or draft.catalog.tables[used.name]
    settled = _settled_until(draft, used)
    if settled is None or (isinstance(declared, TableSpec) and declared.may_be_empty):
        return frozenset()
    used_days = needed_days(draft.intent.days, input_window(used, draft.intent.knowledge))
    expected = (day for day in used_days if declared.start <= day <= settled)
    return frozenset(missing_days(expected, draft.facts.inputs[used.name].days_present))


def _refusal(draft: Draft, lacks: tuple[_Lack, ...]) -> str:
    days = _all_days(lacks)
    closed = _whole_units(draft, set(days))
    now = f"plan {closed} now" if closed else "none of the days can be planned now"
    return (
        f"{draft.intent.table} is computed from complete windows alone, and those of "
        f"{count_of(len(days), 'day')} are not complete ({days}): {_all_that_lacks(lacks)}. Wait "
        f"for that; {now}"
    )


def _all_days(lacks: tuple[_Lack, ...]) -> PartitionSet:
    return PartitionSet.of_days(day for lack in lacks for day in lack.days)


def _all_that_lacks(lacks: tuple[_Lack, ...]) -> str:
    return "; ".join(lack.what for lack in lacks)


def _whole_units(draft: Draft, kept_back: set[date]) -> PartitionSet | None:
    """What a table cannot be cut by, such as a month, waits as a whole."""
    start_of = draft.spec.boundary.start_of
    waiting = {start_of(day) for day in kept_back}
    closed = [day for day in draft.intent.days if start_of(day) not in waiting]
    return PartitionSet.of_days(closed) if closed else None


def _inputs(draft: Draft) -> list[Input]:
    return sorted(draft.spec.inputs, key=lambda used: used.name)
