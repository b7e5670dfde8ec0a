"""Alerts on one screen: each with its message, who was told, and what did not arrive."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from rich.console import RenderableType
from rich.text import Text

from backfill_platform.cli.figures import show_count, show_instant, show_seconds
from backfill_platform.cli.plan_screen import heading, sections
from backfill_platform.domain.alerts import (
    AlertDelivery,
    AlertRecord,
    AlertSeverity,
    AlertState,
)
from backfill_platform.governance.alerting import MOST_ATTEMPTS

_STYLES = {AlertSeverity.CRITICAL: "bold red", AlertSeverity.WARNING: "bold yellow"}


def alerts_screen(
    records: tuple[AlertRecord, ...],
    deliveries: tuple[AlertDelivery, ...],
    undelivered: tuple[AlertDelivery, ...],
    now: datetime,
) -> Iterator[RenderableType]:
    for record in records:
        yield heading(record.alert.title, _state(record), style=_style(record))
        yield sections(_about(record, deliveries, now))
    if undelivered:
        yield heading("Not delivered", show_count(len(undelivered), "message"), style="bold red")
        yield Text("\n").join(map(_undelivered, undelivered))
    if not records and not undelivered:
        yield "No alert is open."


def _state(record: AlertRecord) -> str:
    return f"{record.state} {record.alert.severity}"


def _style(record: AlertRecord) -> str:
    return _STYLES[record.alert.severity] if record.state is AlertState.OPEN else "green"


def _about(
    record: AlertRecord, deliveries: Iterable[AlertDelivery], now: datetime
) -> Iterator[tuple[str, RenderableType]]:
    yield "what", Text(record.alert.message)
    yield "since", Text(_since(record, now))
    told = _told(record, deliveries)
    yield "told", Text(", ".join(told) if told else "nobody, as alerts.yaml says")


def _since(record: AlertRecord, now: datetime) -> str:
    ended = record.resolved_at
    lasted = show_seconds(((ended or now) - record.opened_at).total_seconds())
    if ended is None:
        return f"{show_instant(record.opened_at)}, for {lasted}"
    return f"{show_instant(record.opened_at)} until {show_instant(ended)}, for {lasted}"


def _told(record: AlertRecord, deliveries: Iterable[AlertDelivery]) -> list[str]:
    return [
        f"{one.notice.channel} ({one.notice.event.lower()} {_arrival(one)})"
        for one in deliveries
        if (one.notice.alert.key, one.notice.opened_at) == (record.alert.key, record.opened_at)
    ]


def _arrival(one: AlertDelivery) -> str:
    if one.delivered_at is not None:
        return f"at {show_instant(one.delivered_at)}"
    return "not yet" if not one.error else "not delivered"


def _undelivered(one: AlertDelivery) -> Text:
    if one.attempts >= MOST_ATTEMPTS:
        fate = f"given up after {one.attempts} attempts"
    else:
        again = show_instant(one.next_attempt_at)
        fate = f"{show_count(one.attempts, 'attempt')}, the next one from {again}"
    notice = one.notice
    told = f"{notice.channel}: {notice.alert.title} ({notice.event.lower()}), {fate}: "
    return Text.assemble(told, (one.error, "red"))
