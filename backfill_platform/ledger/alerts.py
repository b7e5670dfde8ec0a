"""Alerts as they stand, and what one look at everything changes about them, with its messages.

Invariant: of two that look at the same moment one tells; the other finds that it knew too little
(test_of_two_that_look_at_once_one_tells).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from backfill_platform.domain.alerts import (
    Alert,
    AlertChange,
    AlertEvent,
    AlertKind,
    AlertRecord,
    AlertRound,
    AlertSeverity,
    Notice,
)
from backfill_platform.ledger.database import stand_in_line
from backfill_platform.ledger.schema import UNRESOLVED, alert, alert_delivery

_KEYS_AT_ONCE = 1_000  # variables of a statement
_Opened = tuple[str, datetime]


def read_open(connection: sa.Connection) -> tuple[AlertRecord, ...]:
    """The oldest first."""
    is_open = sa.select(alert).where(sa.text(UNRESOLVED))
    rows = connection.execute(is_open.order_by(alert.c.opened_at, alert.c.alert_key))
    return _with_channels(connection, rows.all())


def read_resolved(connection: sa.Connection, limit: int) -> tuple[AlertRecord, ...]:
    """The newest end first."""
    rows = connection.execute(
        sa.select(alert)
        .where(alert.c.resolved_at.is_not(None))
        .order_by(alert.c.resolved_at.desc(), alert.c.alert_key)
        .limit(limit)
    )
    return _with_channels(connection, rows.all())


def record_round(
    connection: sa.Connection, found: AlertRound, now: datetime
) -> tuple[AlertChange, ...]:
    """The changes that were still due; their messages wait from now on."""
    stand_in_line(connection, "alerts")
    told = _told_at(connection, [change.alert.key for change in found.changes])
    due = [change for change in found.changes if told.get(change.alert.key) == change.known_told_at]
    _open(connection, [change for change in due if change.event is AlertEvent.OPENED], now)
    _tell_again(connection, [change for change in due if change.event in _AGAIN], now)
    _resolve(connection, [change for change in due if change.event is AlertEvent.RESOLVED], now)
    _post(connection, due, now)
    _mark_seen(connection, found.seen, now)
    return tuple(due)


_AGAIN = frozenset({AlertEvent.CHANGED, AlertEvent.REMINDED})


def _told_at(connection: sa.Connection, keys: Sequence[str]) -> dict[str, datetime]:
    """Of those that are open."""
    return {
        row.alert_key: row.told_at
        for some in _portions(keys)
        for row in connection.execute(
            sa.select(alert.c.alert_key, alert.c.told_at).where(
                sa.text(UNRESOLVED), alert.c.alert_key.in_(some)
            )
        )
    }


def _open(connection: sa.Connection, changes: Sequence[AlertChange], now: datetime) -> None:
    rows = [
        {
            "alert_key": change.alert.key,
            "opened_at": change.opened_at,
            "kind": change.alert.kind.value,
            "subject": change.alert.subject,
            "table_name": change.alert.table,
            "severity": change.alert.severity.value,
            "digest": change.alert.digest,
            "title": change.alert.title,
            "message": change.alert.message,
            "seen_at": now,
            "told_at": now,
        }
        for change in changes
    ]
    if rows:
        connection.execute(alert.insert(), rows)


def _tell_again(connection: sa.Connection, changes: Sequence[AlertChange], now: datetime) -> None:
    said = ("severity", "digest", "title", "message")
    _update(
        connection,
        alert.update().values(
            {name: sa.bindparam(f"new_{name}") for name in said} | {"seen_at": now, "told_at": now}
        ),
        [
            {f"new_{name}": getattr(change.alert, name) for name in said} | _place(change)
            for change in changes
        ],
    )


def _resolve(connection: sa.Connection, changes: Sequence[AlertChange], now: datetime) -> None:
    _update(
        connection,
        alert.update().values(resolved_at=now),
        [_place(change) for change in changes],
    )


def _update(connection: sa.Connection, update: sa.Update, rows: list[dict[str, Any]]) -> None:
    if rows:
        of_alert = update.where(
            alert.c.alert_key == sa.bindparam("of_key"),
            alert.c.opened_at == sa.bindparam("of_opened_at"),
        )
        connection.execute(of_alert, rows)


def _place(change: AlertChange) -> dict[str, Any]:
    return {"of_key": change.alert.key, "of_opened_at": change.opened_at}


def _post(connection: sa.Connection, changes: Iterable[AlertChange], now: datetime) -> None:
    notices = [
        Notice(
            event=change.event,
            alert=change.alert,
            opened_at=change.opened_at,
            at=now,
            channel=channel,
        )
        for change in changes
        for channel in change.channels
    ]
    if notices:
        connection.execute(alert_delivery.insert(), [_waiting(notice) for notice in notices])


def _waiting(notice: Notice) -> dict[str, Any]:
    return {
        "delivery_id": notice.delivery_id,
        "alert_key": notice.alert.key,
        "opened_at": notice.opened_at,
        "event": notice.event.value,
        "at": notice.at,
        "channel": notice.channel,
        "title": notice.alert.title,
        "message": notice.alert.message,
        "attempts": 0,
        "next_attempt_at": notice.at,
        "error": "",
    }


def _mark_seen(connection: sa.Connection, keys: Sequence[str], now: datetime) -> None:
    for some in _portions(keys):
        connection.execute(
            alert.update()
            .where(sa.text(UNRESOLVED), alert.c.alert_key.in_(some))
            .values(seen_at=now)
        )


def _with_channels(
    connection: sa.Connection, rows: Sequence[sa.Row[Any]]
) -> tuple[AlertRecord, ...]:
    channels: defaultdict[_Opened, list[str]] = defaultdict(list)
    columns = alert_delivery.c
    for some in _portions([row.alert_key for row in rows]):
        told = sa.select(columns.alert_key, columns.opened_at, columns.channel).distinct()
        of_alerts = told.where(columns.alert_key.in_(some)).order_by(columns.channel)
        for key, opened_at, channel in connection.execute(of_alerts):
            channels[(key, opened_at)].append(channel)
    return tuple(_read(row, channels[(row.alert_key, row.opened_at)]) for row in rows)


def _read(row: sa.Row[Any], channels: Sequence[str]) -> AlertRecord:
    return AlertRecord(
        alert=read_alert(row),
        digest=row.digest,
        opened_at=row.opened_at,
        seen_at=row.seen_at,
        told_at=row.told_at,
        resolved_at=row.resolved_at,
        channels=tuple(channels),
    )


def read_alert(row: sa.Row[Any]) -> Alert:
    return Alert(
        kind=AlertKind(row.kind),
        subject=row.subject,
        table=row.table_name,
        severity=AlertSeverity(row.severity),
        title=row.title,
        message=row.message,
    )


def _portions(keys: Sequence[str]) -> Iterable[Sequence[str]]:
    return (keys[first : first + _KEYS_AT_ONCE] for first in range(0, len(keys), _KEYS_AT_ONCE))
