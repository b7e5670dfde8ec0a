"""Reads one version of the jurisdiction calendar into plain values.

It answers which days a jurisdiction works and which terms hold on a day. How deadlines follow from
that is the business of `enforcement.sla`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What holds for cases that are opened, and for days, from `valid_from` on."""

    valid_from: date
    working_week: frozenset[int]  # Monday is 0
    sla_business_days: Mapping[str, int]  # by case class
    escalation_extra_days: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Jurisdiction:
    code: str
    name: str
    time_zone: str
    terms: tuple[Terms, ...]  # oldest first
    holidays: Mapping[date, str]

    def terms_on(self, day: date) -> Terms:
        return [known for known in self.terms if known.valid_from <= day][-1]

    def works_on(self, day: date) -> bool:
        return day.weekday() in self.terms_on(day).working_week and day not in self.holidays


@dataclass(frozen=True, slots=True, kw_only=True)
class JurisdictionCalendar:
    """Facts for the days from `first_day` to `last_day`; nothing is known outside of them."""

    version: str
    recorded_on: date
    first_day: date
    last_day: date
    jurisdictions: Mapping[str, Jurisdiction]


def load_calendar(path: Path) -> JurisdictionCalendar:
    content = json.loads(path.read_text(encoding="utf-8"))
    return JurisdictionCalendar(
        version=content["version"],
        recorded_on=date.fromisoformat(content["recorded_on"]),
        first_day=date.fromisoformat(content["first_day"]),
        last_day=date.fromisoformat(content["last_day"]),
        jurisdictions={
            code: _jurisdiction(code, entry) for code, entry in content["jurisdictions"].items()
        },
    )


def _jurisdiction(code: str, entry: Mapping[str, Any]) -> Jurisdiction:
    return Jurisdiction(
        code=code,
        name=entry["name"],
        time_zone=entry["time_zone"],
        terms=tuple(sorted(map(_terms, entry["terms"]), key=lambda terms: terms.valid_from)),
        holidays={date.fromisoformat(day): name for day, name in entry["holidays"].items()},
    )


def _terms(entry: Mapping[str, Any]) -> Terms:
    return Terms(
        valid_from=date.fromisoformat(entry["valid_from"]),
        working_week=frozenset(WEEKDAYS.index(day) for day in entry["working_week"]),
        sla_business_days=entry["sla_business_days"],
        escalation_extra_days=entry["escalation_extra_days"],
    )
