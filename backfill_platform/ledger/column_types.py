"""Column types that hold on every database: aware UTC instants, days, and two kinds of JSON.

Canonical where a hash covers it; plain where nothing does, because numbers that were taken from
data may be larger than what canonical JSON allows.
"""

import json
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from backfill_platform.domain.canonical import canonical_json
from backfill_platform.domain.day_notation import parse_days
from backfill_platform.domain.partitions import PartitionSet


def require_aware(instant: datetime) -> datetime:
    if instant.tzinfo is None:
        raise ValueError(f"{instant} has no time zone; the ledger takes aware instants only")
    return instant.astimezone(UTC)


class UtcInstant(sa.TypeDecorator[datetime]):
    """SQLite keeps no time zone, so everything is UTC on the way in and again on the way out."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        return None if value is None else require_aware(value)

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class CanonicalJson(sa.TypeDecorator[Any]):
    """Text and not the database's own JSON, which may reorder what a hash covers."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> str | None:
        return None if value is None else canonical_json(value)

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> Any:
        return None if value is None else json.loads(value)


class PlainJson(sa.TypeDecorator[Any]):
    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> str | None:
        return None if value is None else json.dumps(value, sort_keys=True)

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> Any:
        return None if value is None else json.loads(value)


class Days(sa.TypeDecorator[PartitionSet]):
    """As people write them, so that a look into the database needs no legend."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: PartitionSet | None, dialect: sa.Dialect) -> str | None:
        return None if value is None else str(value)

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> PartitionSet | None:
        return None if value is None else parse_days(value)
