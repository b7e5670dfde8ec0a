"""The calendar's editions, and the arrays that the rule looks up, against plain date arithmetic."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from backfill_platform.enforcement.jurisdiction_calendar import load_calendar
from backfill_platform.enforcement.lifecycle import CASE_CLASSES, JURISDICTIONS
from backfill_platform.enforcement.reference.editions import (
    AS_RECORDED_IN_JANUARY,
    JURISDICTION_CALENDAR,
    RESTATED,
    calendar_path,
)
from backfill_platform.enforcement.sla.calendar_tables import DAY_SECONDS, EPOCH, build_table

CALENDAR = load_calendar(calendar_path(RESTATED))


@pytest.mark.parametrize("edition", JURISDICTION_CALENDAR.versions, ids=lambda known: known.version)
def test_every_edition_covers_every_jurisdiction_and_class(edition) -> None:
    calendar = load_calendar(edition.path)
    assert (calendar.version, calendar.recorded_on) == (edition.version, edition.recorded_on)
    assert sorted(calendar.jurisdictions) == sorted(JURISDICTIONS)
    assert {
        frozenset(terms.sla_business_days)
        for place in calendar.jurisdictions.values()
        for terms in place.terms
    } == {frozenset(CASE_CLASSES)}


def test_the_restated_edition_corrects_holidays() -> None:
    before = load_calendar(calendar_path(AS_RECORDED_IN_JANUARY)).jurisdictions["US-NY"]
    mourning = date(2025, 1, 9)
    assert before.works_on(mourning)
    assert not CALENDAR.jurisdictions["US-NY"].works_on(mourning)


def test_some_weeks_end_on_thursday() -> None:
    riyadh = CALENDAR.jurisdictions["SA-RY"]
    assert [riyadh.works_on(date(2025, 1, 16) + timedelta(days=n)) for n in range(4)] == [
        True,
        False,
        False,
        True,
    ]


@pytest.mark.parametrize("code", JURISDICTIONS)
def test_one_offset_dates_every_hour_of_a_utc_day(code: str) -> None:
    place = CALENDAR.jurisdictions[code]
    offsets = build_table(CALENDAR, place, place.time_zone)["utc_offset_seconds"]
    start = datetime(2024, 1, 1, tzinfo=UTC)
    instants = [start + timedelta(minutes=30 * n) for n in range(2 * 24 * 1000)]
    found = [(int(at.timestamp()) + offsets[(at - start).days]) // DAY_SECONDS for at in instants]
    zone = ZoneInfo(place.time_zone)
    assert found == [(at.astimezone(zone).date() - EPOCH).days for at in instants]


def test_a_day_without_midnight_begins_when_clocks_change() -> None:
    cairo = CALENDAR.jurisdictions["EG-CA"]
    table = build_table(CALENDAR, cairo, cairo.time_zone)
    # Clocks went from 23:59:59 on 24 April to 01:00 on the 25th, at 22:00 UTC.
    assert int(datetime(2025, 4, 24, 22, tzinfo=UTC).timestamp()) in table["due_seconds"]
