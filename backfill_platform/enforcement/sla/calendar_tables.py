"""Turns a jurisdiction calendar into flat arrays, so that the rule needs no date arithmetic.

A deadline is counted in business days. Every day has an ordinal, the number of business days before
it; pauses are then differences of ordinals and a deadline is a sum. Only here are time zones known.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate
from zoneinfo import ZoneInfo

from backfill_platform.domain.partitions import ONE_DAY
from backfill_platform.enforcement.jurisdiction_calendar import Jurisdiction, JurisdictionCalendar
from backfill_platform.enforcement.lifecycle import CASE_CLASSES

EPOCH = date(1970, 1, 1)
DAY_SECONDS = 86_400

ZoneOf = Callable[[Jurisdiction], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarTables:
    """Arrays over jurisdictions in the order of `codes`, each a stretch of `days` entries.

    `due_seconds` has one entry for each business day ordinal; `terms` points into `sla_days` (one
    entry for each case class) and `extra_days`.
    """

    codes: tuple[str, ...]
    first_day: int  # days since 1970, as everywhere below
    days: int
    utc_offset_seconds: tuple[int, ...]  # by UTC day: gives the local date of any instant in it
    business_days_before: tuple[int, ...]  # by local date
    ordinal_at_day_end: tuple[int, ...]  # by UTC day: the ordinal of the local date at its end
    due_seconds: tuple[int, ...]  # by ordinal of the due date: when its local midnight ends it
    terms: tuple[int, ...]  # by local date
    sla_days: tuple[int, ...]
    extra_days: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stretch:
    """The part of every array that belongs to one jurisdiction."""

    offsets: list[int]
    before: list[int]
    at_day_end: list[int]
    due: list[int]


def build_tables(calendar: JurisdictionCalendar, zone_of: ZoneOf) -> CalendarTables:
    codes = tuple(sorted(calendar.jurisdictions))
    every_day = _days(calendar.first_day, calendar.last_day)
    stretches = [
        _stretch(calendar.jurisdictions[code], zone_of(calendar.jurisdictions[code]), every_day)
        for code in codes
    ]
    terms, sla_days, extra_days = _terms(calendar.jurisdictions, codes, every_day)
    return CalendarTables(
        codes=codes,
        first_day=(calendar.first_day - EPOCH).days,
        days=len(every_day),
        utc_offset_seconds=_flat(stretch.offsets for stretch in stretches),
        business_days_before=_flat(stretch.before for stretch in stretches),
        ordinal_at_day_end=_flat(stretch.at_day_end for stretch in stretches),
        due_seconds=_flat(_padded(stretch.due, len(every_day)) for stretch in stretches),
        terms=terms,
        sla_days=sla_days,
        extra_days=extra_days,
    )


def _days(first: date, last: date) -> tuple[date, ...]:
    return tuple(first + timedelta(days=offset) for offset in range((last - first).days + 1))


def _stretch(jurisdiction: Jurisdiction, zone_name: str, every_day: Sequence[date]) -> _Stretch:
    zone = ZoneInfo(zone_name)
    works = [jurisdiction.works_on(day) for day in every_day]
    before = list(accumulate(works, initial=0))[:-1]
    ordinal_of = dict(zip(every_day, before, strict=True))
    day_ends = [_utc_midnight(day + ONE_DAY).astimezone(zone).date() for day in every_day]
    return _Stretch(
        offsets=[_offset(day, zone) for day in every_day],
        before=before,
        at_day_end=[ordinal_of.get(local, before[-1]) for local in day_ends],
        due=[0]  # ordinals of business days begin with one
        + [
            _seconds(_local_midnight(day + ONE_DAY, zone))
            for day, is_working in zip(every_day, works, strict=True)
            if is_working
        ],
    )


def _offset(utc_day: date, zone: ZoneInfo) -> int:
    """The offset in force at the local midnight that falls into a UTC day.

    That one offset dates every instant of the UTC day rightly, also when clocks change on it:
    dates turn at midnight and at no other moment.
    """
    local_day = _utc_midnight(utc_day).astimezone(zone).date()
    next_midnight = _local_midnight(local_day + ONE_DAY, zone)
    return ((local_day + ONE_DAY) - EPOCH).days * DAY_SECONDS - _seconds(next_midnight)


def _terms(
    jurisdictions: Mapping[str, Jurisdiction], codes: Sequence[str], every_day: Sequence[date]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    known = [(code, terms) for code in codes for terms in jurisdictions[code].terms]
    number = {(code, terms.valid_from): place for place, (code, terms) in enumerate(known)}
    by_day = tuple(
        number[code, jurisdictions[code].terms_on(day).valid_from]
        for code in codes
        for day in every_day
    )
    sla_days = _flat([terms.sla_business_days[name] for name in CASE_CLASSES] for _, terms in known)
    return by_day, sla_days, tuple(terms.escalation_extra_days for _, terms in known)


def _utc_midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _local_midnight(day: date, zone: ZoneInfo) -> datetime:
    """Where clocks skip midnight, the day begins at the moment of the change."""
    return datetime(day.year, day.month, day.day, tzinfo=zone)


def _seconds(instant: datetime) -> int:
    return int(instant.timestamp())


def _padded(entries: list[int], length: int) -> list[int]:
    return entries + [0] * (length - len(entries))


def _flat(stretches: Iterator[list[int]]) -> tuple[int, ...]:
    return tuple(entry for stretch in stretches for entry in stretch)
