"""The outbox: messages that wait, who is sending one, and what became of it.

Invariant: a message is claimed before it is sent, and by one worker
(test_of_two_workers_one_claims_a_message). A claim ends by itself, so a message whose sender died
is sent again, under the same id: at least once, and never silently not at all.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from backfill_platform.domain.alerts import AlertDelivery, AlertEvent, Notice
from backfill_platform.ledger.alerts import read_alert
from backfill_platform.ledger.schema import UNDELIVERED, alert, alert_delivery

_columns = alert_delivery.c


def read_due(
    connection: sa.Connection,
    now: datetime,
    *,
    most_attempts: int,
    without: Collection[str],
    limit: int,
) -> tuple[AlertDelivery, ...]:
    """What waits longest first. Of one alert and channel only the first: an end is not told before
    its beginning (test_an_end_is_not_told_before_its_beginning)."""
    earlier = alert_delivery.alias("earlier")
    overtakes = sa.exists().where(
        earlier.c.alert_key == _columns.alert_key,
        earlier.c.opened_at == _columns.opened_at,
        earlier.c.channel == _columns.channel,
        earlier.c.delivered_at.is_(None),
        earlier.c.attempts < most_attempts,
        earlier.c.at < _columns.at,
    )
    rows = connection.execute(
        _select()
        .where(
            sa.text(UNDELIVERED),
            _columns.next_attempt_at <= now,
            _columns.attempts < most_attempts,
            _columns.channel.not_in(sorted(without)),
            ~overtakes,
        )
        .order_by(_columns.next_attempt_at, _columns.at, _columns.delivery_id)
        .limit(limit)
    )
    return tuple(_read(row) for row in rows)


def read_of_alerts(
    connection: sa.Connection, opened: Sequence[tuple[str, datetime]]
) -> tuple[AlertDelivery, ...]:
    """The oldest first."""
    keys = sorted({key for key, _ in opened})
    rows = connection.execute(
        _select()
        .where(_columns.alert_key.in_(keys))
        .order_by(_columns.at, _columns.channel, _columns.delivery_id)
    )
    wanted = frozenset(opened)
    return tuple(_read(row) for row in rows if (row.alert_key, row.opened_at) in wanted)


def read_undelivered(connection: sa.Connection, limit: int) -> tuple[AlertDelivery, ...]:
    """Those of which an attempt has failed, the oldest first; of alerts that are over, too."""
    rows = connection.execute(
        _select()
        .where(sa.text(UNDELIVERED), _columns.error != "")
        .order_by(_columns.next_attempt_at, _columns.delivery_id)
        .limit(limit)
    )
    return tuple(_read(row) for row in rows)


def claim(connection: sa.Connection, due: AlertDelivery, *, until: datetime) -> bool:
    """Whether this worker may send it; whoever else has looked at the same row may not."""
    claimed = connection.execute(
        alert_delivery.update()
        .where(
            _columns.delivery_id == due.notice.delivery_id,
            _columns.attempts == due.attempts,
            _columns.delivered_at.is_(None),
        )
        .values(attempts=due.attempts + 1, next_attempt_at=until)
    )
    return claimed.rowcount == 1


def record_delivered(connection: sa.Connection, delivery_id: str, now: datetime) -> None:
    """Twice is once."""
    connection.execute(
        alert_delivery.update()
        .where(_columns.delivery_id == delivery_id, _columns.delivered_at.is_(None))
        .values(delivered_at=now, error="")
    )


def record_failed(connection: sa.Connection, delivery_id: str, error: str) -> None:
    connection.execute(
        alert_delivery.update()
        .where(_columns.delivery_id == delivery_id, _columns.delivered_at.is_(None))
        .values(error=error)
    )


def count_waiting(connection: sa.Connection, *, most_attempts: int) -> int:
    waiting = sa.select(sa.func.count()).select_from(alert_delivery)
    return connection.execute(
        waiting.where(sa.text(UNDELIVERED), _columns.attempts < most_attempts)
    ).scalar_one()


def _select() -> sa.Select[Any]:
    of_alert = (alert.c.kind, alert.c.subject, alert.c.table_name, alert.c.severity)
    return sa.select(alert_delivery, *of_alert).join(
        alert,
        sa.and_(alert.c.alert_key == _columns.alert_key, alert.c.opened_at == _columns.opened_at),
    )


def _read(row: sa.Row[Any]) -> AlertDelivery:
    return AlertDelivery(
        notice=Notice(
            event=AlertEvent(row.event),
            alert=read_alert(row),
            opened_at=row.opened_at,
            at=row.at,
            channel=row.channel,
        ),
        attempts=row.attempts,
        next_attempt_at=row.next_attempt_at,
        delivered_at=row.delivered_at,
        error=row.error,
    )
