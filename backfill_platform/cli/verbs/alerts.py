"""Verb `alerts`: what is open, since when, who was told, and what did not arrive. No JVM."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from backfill_platform.cli.alerts_screen import alerts_screen
from backfill_platform.cli.opening import open_ledger, refuse_unknown_name
from backfill_platform.cli.options import Json
from backfill_platform.cli.output import emit, show
from backfill_platform.domain.clock import utc_now
from backfill_platform.domain.plain import to_plain

if TYPE_CHECKING:
    from backfill_platform.domain.alerts import AlertDelivery, AlertRecord

RESOLVED_SHOWN = 100


def alerts(
    resolved: Annotated[bool, typer.Option("--all", help="The newest resolved, too.")] = False,
    test: Annotated[
        str, typer.Option(metavar="CHANNEL", help="Send it a message about nothing.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Show what somebody has to hear of, who was told, and what could not be delivered."""
    if test:
        _test(test, as_json=as_json)
        return
    book, now = open_ledger().alerts, utc_now()
    records = book.open_alerts()
    if resolved:
        records += book.resolved_alerts(limit=RESOLVED_SHOWN)
    deliveries, undelivered = book.deliveries_of(records), book.undelivered()
    if as_json:
        emit(_document(records, deliveries, undelivered))
    else:
        show(*alerts_screen(records, deliveries, undelivered, now))


def _test(channel: str, *, as_json: bool) -> None:
    from backfill_platform.engine.alerts.delivering import draft_test
    from backfill_platform.engine.platform import load_alerting
    from backfill_platform.notifier.sending import send
    from backfill_platform.settings import load_settings, read_secret

    settings = load_settings()
    channels = load_alerting(settings.alerts).channels
    refuse_unknown_name(channel, channels, "--test")
    notice = draft_test(channel, utc_now())
    send(channels[channel], notice, find_secret=read_secret, home=settings.home)
    if as_json:
        emit({"channel": channel, "delivery_id": notice.delivery_id})
    else:
        show(f"{channel} took the message {notice.delivery_id}; look whether it arrived.")


def _document(
    records: tuple["AlertRecord", ...],
    deliveries: tuple["AlertDelivery", ...],
    undelivered: tuple["AlertDelivery", ...],
) -> dict[str, Any]:
    return {
        "alerts": [
            {
                **to_plain(record),
                "key": record.alert.key,
                "state": record.state.value,
                "deliveries": [
                    _delivery(one)
                    for one in deliveries
                    if (one.notice.alert.key, one.notice.opened_at)
                    == (record.alert.key, record.opened_at)
                ],
            }
            for record in records
        ],
        "undelivered": [{"key": one.notice.alert.key, **_delivery(one)} for one in undelivered],
    }


def _delivery(one: "AlertDelivery") -> dict[str, Any]:
    """Without the alert itself, beside which it stands."""
    document = to_plain(one)
    notice = document.pop("notice")
    del notice["alert"]
    return {"delivery_id": one.notice.delivery_id, **notice, **document}
