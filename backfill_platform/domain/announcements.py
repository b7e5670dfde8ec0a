"""Published rows that are also told as events on a topic, for consumers who keep no table.

A topic is dedicated: whoever reads it has asked for corrections. What is told of a row is declared
with its table; that all events of a publication are told, and told once, is the engine's business.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backfill_platform.domain.identity import RunId


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    key: bytes
    value: bytes
    headers: tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """How a table's published rows become events."""

    topic: str
    told: Callable[[Mapping[str, Any]], Event]  # of a row that was published
    taken_back: Callable[[Mapping[str, Any]], Event]  # of one that a rollback took back


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """All events of one publication, which become visible together.

    `delivery_id` is the producer's transactional id and stands in a header of every event, so the
    topic itself knows whether they landed.
    """

    delivery_id: str
    topic: str
    events_count: int
    starts: Mapping[int, int]  # where each partition of the topic ended before the first attempt


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    ends: Mapping[int, int]  # where each partition ended when the events were seen
    was_there: bool  # an earlier attempt had landed; nothing was sent


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryRecord:
    """As the ledger keeps it."""

    run_id: RunId
    delivery: Delivery
    intended_at: datetime
    told_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """Where topics are; credentials come from the environment and are never shown."""

    servers: str
    username: str = ""
    password: str = ""
    answer_seconds: float = 15.0  # after which it counts as away

    def __repr__(self) -> str:
        return f"Broker(servers={self.servers!r})"
