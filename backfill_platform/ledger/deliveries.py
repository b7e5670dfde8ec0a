"""Deliveries of events to topics: the intent before the first attempt, the fact after the last.

The intent keeps where the topic ended before anything was sent. After a crash it is looked at from
there and no further back, and so it has to be the first attempt's, whoever tries again.
"""

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from backfill_platform.domain.announcements import Delivered, Delivery, DeliveryRecord
from backfill_platform.domain.errors import RunUnknown
from backfill_platform.domain.identity import RunId
from backfill_platform.ledger.database import stand_in_line
from backfill_platform.ledger.schema import delivery


def intend_delivery(
    connection: sa.Connection, run_id: RunId, intended: Delivery, now: datetime
) -> DeliveryRecord:
    """The first one's words stay (test_the_first_intent_of_a_delivery_stays)."""
    stand_in_line(connection, f"delivery {intended.delivery_id}")
    known = _find(connection, intended.delivery_id)
    if known is not None:
        return known
    connection.execute(
        delivery.insert().values(
            delivery_id=intended.delivery_id,
            run_id=run_id,
            topic=intended.topic,
            events_count=intended.events_count,
            starts=_written(intended.starts),
            intended_at=now,
        )
    )
    return DeliveryRecord(run_id=run_id, delivery=intended, intended_at=now, told_at=None)


def record_told(
    connection: sa.Connection, delivery_id: str, told: Delivered, now: datetime
) -> None:
    """Twice is once."""
    if _find(connection, delivery_id) is None:
        raise RunUnknown(f"No intent to tell {delivery_id} is recorded; record it first.")
    connection.execute(
        delivery.update()
        .where(delivery.c.delivery_id == delivery_id, delivery.c.told_at.is_(None))
        .values(told_at=now, ends=_written(told.ends))
    )


def read_deliveries(connection: sa.Connection, run_id: RunId) -> tuple[DeliveryRecord, ...]:
    rows = connection.execute(
        sa.select(delivery)
        .where(delivery.c.run_id == run_id)
        .order_by(delivery.c.intended_at, delivery.c.delivery_id)
    )
    return tuple(_read(row) for row in rows)


def _find(connection: sa.Connection, delivery_id: str) -> DeliveryRecord | None:
    row = connection.execute(
        sa.select(delivery).where(delivery.c.delivery_id == delivery_id)
    ).first()
    return None if row is None else _read(row)


def _written(offsets: Any) -> dict[str, int]:
    return {str(partition): offset for partition, offset in offsets.items()}


def _read(row: sa.Row[Any]) -> DeliveryRecord:
    return DeliveryRecord(
        run_id=row.run_id,
        delivery=Delivery(
            delivery_id=row.delivery_id,
            topic=row.topic,
            events_count=row.events_count,
            starts={int(partition): offset for partition, offset in row.starts.items()},
        ),
        intended_at=row.intended_at,
        told_at=row.told_at,
    )
