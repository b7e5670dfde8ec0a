"""How a message reads: as a document for programs, and as a few lines for people."""

from typing import Any

from backfill_platform.domain.alerts import AlertEvent, AlertSeverity, Notice
from backfill_platform.domain.plain import to_plain

_SAID = {
    AlertEvent.OPENED: "",
    AlertEvent.CHANGED: "Changed: ",
    AlertEvent.REMINDED: "Still: ",
    AlertEvent.RESOLVED: "Resolved: ",
    AlertEvent.TESTED: "Test: ",
}
_SIGNS = {AlertSeverity.CRITICAL: "🔴", AlertSeverity.WARNING: "🟡"}


def document(notice: Notice) -> dict[str, Any]:
    """Whoever drops repeats does it by `delivery_id`, and whoever keeps a ticket by `key`."""
    return {
        "delivery_id": notice.delivery_id,
        "event": notice.event.value,
        "at": to_plain(notice.at),
        "key": notice.alert.key,
        "opened_at": to_plain(notice.opened_at),
        **to_plain(notice.alert),
    }


def headline(notice: Notice) -> str:
    """On one line, whatever it is made of: it becomes the header of a mail."""
    return " ".join(f"{_SAID[notice.event]}{notice.alert.title}".split())


def lines(notice: Notice) -> str:
    since = f"{notice.alert.kind} · {notice.alert.table} · since {notice.opened_at:%Y-%m-%d %H:%M}"
    return f"{notice.alert.message}\n{since} UTC"


def sign(notice: Notice) -> str:
    return "🟢" if notice.event is AlertEvent.RESOLVED else _SIGNS[notice.alert.severity]
