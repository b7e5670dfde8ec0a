"""The service level rule in the plainest Python: dates, loops, nothing shared with the transform.

It is slow and obvious on purpose. Where it and Spark differ, one of them misreads the rule.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from backfill_platform.enforcement.jurisdiction_calendar import Jurisdiction, JurisdictionCalendar

ONE_DAY = timedelta(days=1)
ORDER_AT_ONE_INSTANT = [
    "opened",
    "evidence_requested",
    "evidence_received",
    "escalated",
    "decision_effective",
    "decision_amended",
    "reopened",
    "closed",
]


@dataclass(frozen=True, kw_only=True)
class Delivered:
    """One version of one event, as it arrived."""

    case_id: str
    jurisdiction: str
    case_class: str
    event_id: str
    event_type: str
    occurred_at: datetime
    effective_at: datetime | None
    version: int
    op: str
    arrival_date: date


@dataclass
class Clock:
    """What is known of a case while its events are read one after the other."""

    opened: Delivered | None = None
    extra_days: int = 0
    pauses: list[tuple[datetime, datetime]] = field(default_factory=list)
    running_since: datetime | None = None  # since the last interruption
    awaiting_since: datetime | None = None
    decided_at: datetime | None = None
    escalated: bool = False
    closed_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Oracle:
    calendar: JurisdictionCalendar
    reckons_in_utc: bool
    before_days: int
    after_days: int

    def rows(self, events: Iterable[Delivered], days: Iterable[date]) -> list[dict[str, Any]]:
        cases: dict[str, list[Delivered]] = defaultdict(list)
        for event in events:
            cases[event.case_id].append(event)
        found = (self._row(case, day) for day in days for case in cases.values())
        return [row for row in found if row is not None]

    def _row(self, deliveries: list[Delivered], day: date) -> dict[str, Any] | None:
        as_of = datetime(day.year, day.month, day.day, tzinfo=UTC) + ONE_DAY
        events = self._valid_events(deliveries, day, as_of)
        place = self.calendar.jurisdictions[deliveries[0].jurisdiction]
        clock = Clock()
        for event in events:
            self._read(clock, event, place)
        if clock.opened is None or (clock.closed_at and clock.closed_at < as_of - ONE_DAY):
            return None
        return self._describe(clock, events, place, day, as_of)

    def _valid_events(
        self, deliveries: list[Delivered], day: date, as_of: datetime
    ) -> list[Delivered]:
        latest: dict[str, Delivered] = {}
        for event in deliveries:
            first = day - timedelta(days=self.before_days)
            last = day + timedelta(days=self.after_days)
            if not first <= event.arrival_date <= last:
                continue
            known = latest.get(event.event_id)
            if known is None or event.version > known.version:
                latest[event.event_id] = event
        valid = [
            event for event in latest.values() if event.op == "u" and event.occurred_at < as_of
        ]
        return sorted(
            valid,
            key=lambda event: (
                event.occurred_at,
                ORDER_AT_ONE_INSTANT.index(event.event_type),
                event.event_id,
            ),
        )

    def _read(self, clock: Clock, event: Delivered, place: Jurisdiction) -> None:
        if clock.closed_at is not None:
            return
        if clock.opened is None:
            clock.opened = event if event.event_type == "opened" else None
            return
        read = {
            "evidence_requested": self._request,
            "evidence_received": self._receive,
            "escalated": self._escalate,
            "decision_effective": self._decide,
            "decision_amended": self._amend,
            "reopened": self._reopen,
            "closed": self._close,
        }
        if event.event_type in read:
            read[event.event_type](clock, event, place)

    def _request(self, clock: Clock, event: Delivered, place: Jurisdiction) -> None:
        is_running = clock.awaiting_since is None and clock.decided_at is None
        if is_running and self._in_time(clock, place, event.occurred_at):
            clock.awaiting_since = event.occurred_at

    def _receive(self, clock: Clock, event: Delivered, place: Jurisdiction) -> None:
        self._end_waiting(clock, event.occurred_at)

    def _decide(self, clock: Clock, event: Delivered, place: Jurisdiction) -> None:
        self._end_waiting(clock, event.occurred_at)
        clock.decided_at = event.effective_at or event.occurred_at

    def _amend(self, clock: Clock, event: Delivered, place: Jurisdiction) -> None:
        if clock.decided_at is not None:
            clock.decided_at = event.effective_at or event.occurred_at

    def _close(self, clock: Clock, event: Delivered, place: Jurisdiction) -> None:
        self._end_waiting(clock, event.occurred_at)
        clock.closed_at = event.occurred_at

    def _end_waiting(self, clock: Clock, until: datetime) -> None:
        if clock.awaiting_since is not None:
            clock.pauses.append((clock.awaiting_since, until))
            clock.running_since = until
            clock.awaiting_since = None

    def _escalate(self, clock: Clock, event: Delivered, place: Jurisdiction) -> None:
        assert clock.opened is not None
        if clock.escalated:
            return
        stopped = [at for at in (clock.awaiting_since, clock.decided_at) if at is not None]
        if self._in_time(clock, place, min([*stopped, event.occurred_at])):
            opened_on = self._local(clock.opened.occurred_at, place)
            clock.extra_days = place.terms_on(opened_on).escalation_extra_days
        clock.escalated = True

    def _reopen(self, clock: Clock, event: Delivered, place: Jurisdiction) -> None:
        if clock.decided_at is None:
            return
        start = max(clock.decided_at, clock.running_since or clock.decided_at)
        if start < event.occurred_at and self._in_time(clock, place, start):
            clock.pauses.append((start, event.occurred_at))
        clock.running_since = event.occurred_at
        clock.decided_at = None

    def _in_time(self, clock: Clock, place: Jurisdiction, at: datetime) -> bool:
        return self._local(at, place) <= self._due_date(clock, clock.pauses, place)

    def _due_date(
        self, clock: Clock, pauses: list[tuple[datetime, datetime]], place: Jurisdiction
    ) -> date:
        assert clock.opened is not None
        opened_on = self._local(clock.opened.occurred_at, place)
        allowed = place.terms_on(opened_on).sla_business_days[clock.opened.case_class]
        left = allowed + clock.extra_days + self._paused_days(pauses, place)
        day = opened_on
        while left > 0:
            day += ONE_DAY
            left -= place.works_on(day)
        return day

    def _paused_days(self, pauses: list[tuple[datetime, datetime]], place: Jurisdiction) -> int:
        count = 0
        for start, end in pauses:
            day = self._local(start, place)
            while day < self._local(end, place):
                count += place.works_on(day)
                day += ONE_DAY
        return count

    def _local(self, at: datetime, place: Jurisdiction) -> date:
        return at.astimezone(self._zone(place)).date()

    def _zone(self, place: Jurisdiction) -> ZoneInfo:
        return ZoneInfo("UTC" if self.reckons_in_utc else place.time_zone)

    def _describe(
        self,
        clock: Clock,
        events: list[Delivered],
        place: Jurisdiction,
        day: date,
        as_of: datetime,
    ) -> dict[str, Any]:
        assert clock.opened is not None
        pauses = list(clock.pauses)
        if clock.awaiting_since is not None:
            pauses.append((clock.awaiting_since, as_of))
        midnight = self._due_date(clock, pauses, place) + ONE_DAY
        due_at = datetime(
            midnight.year, midnight.month, midnight.day, tzinfo=self._zone(place)
        ).astimezone(UTC)
        decided_at = clock.decided_at if clock.decided_at and clock.decided_at < as_of else None
        read_at = min(at for at in (decided_at, clock.closed_at, as_of) if at is not None)
        return {
            "business_date": day,
            "case_id": clock.opened.case_id,
            "jurisdiction": clock.opened.jurisdiction,
            "case_class": clock.opened.case_class,
            "state": _state(clock, decided_at),
            "opened_at": clock.opened.occurred_at,
            "opened_on": self._local(clock.opened.occurred_at, place),
            "due_at": due_at,
            "paused_seconds": sum((end - start).total_seconds() for start, end in pauses),
            "paused_business_days": self._paused_days(pauses, place),
            "escalated": clock.escalated,
            "decided_at": decided_at,
            "closed_at": clock.closed_at,
            "is_breached": due_at < read_at,
            "breach_at": due_at if due_at < read_at else None,
            "age_days": (as_of - clock.opened.occurred_at).days,
            "opened_today": clock.opened.occurred_at.date() == day,
            "closed_today": clock.closed_at is not None and clock.closed_at.date() == day,
            "event_count": len(events),
            "latest_source_version": max(event.version for event in events),
        }


def _state(clock: Clock, decided_at: datetime | None) -> str:
    if clock.closed_at is not None:
        return "CLOSED"
    if decided_at is not None:
        return "DECIDED"
    if clock.awaiting_since is not None:
        return "PAUSED"
    return "ESCALATED" if clock.escalated else "OPEN"
