"""The readings of `readings`, whose publications are also told on a topic."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from backfill_platform.domain.announcements import Announcement, Event
from backfill_platform.domain.catalog import Declarations
from backfill_platform_tests import readings

TOPIC = "readings.told"


def _event(word: str, row: Mapping[str, Any]) -> Event:
    return Event(
        key=f"{row['day']} {row['meter']}".encode(),
        value=word.encode(),
        headers=(("x-run-id", row["produced_by_run_id"].encode()),),
    )


def told(row: Mapping[str, Any]) -> Event:
    return _event("told", row)


def taken_back(row: Mapping[str, Any]) -> Event:
    return _event("taken back", row)


_BRONZE, *_OTHERS = readings.DECLARATIONS.tables

DECLARATIONS = Declarations(
    sources=readings.DECLARATIONS.sources,
    references=(),
    tables=(
        replace(
            _BRONZE,
            announcement=Announcement(topic=TOPIC, told=told, taken_back=taken_back),
        ),
        *_OTHERS,
    ),
)
