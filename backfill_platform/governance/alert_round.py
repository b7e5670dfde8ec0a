"""What to open, tell again, keep and resolve, from what holds now and what is open already.

Invariant: what holds is told once, and again only when it says something else or its rule's time is
over (test_what_holds_on_is_told_once).
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta

from backfill_platform.domain.alert_facts import AlertFacts
from backfill_platform.domain.alerts import (
    Alert,
    AlertChange,
    AlertEvent,
    AlertKind,
    AlertRecord,
    AlertRound,
)
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.governance.alert_conditions import find_alerts
from backfill_platform.governance.alerting import Alerting

CHANGE_PAUSE = timedelta(minutes=15)  # a run that fails chunk by chunk is not told chunk by chunk
SEEN_EVERY = timedelta(minutes=5)  # a quiet look writes nothing

# Taken up again and not yet past what was told: neither over nor new.
_AT_WORK = frozenset({RunState.STAGING, RunState.STAGED})
_AWAITING = frozenset({RunState.AWAITING_APPROVAL, RunState.AWAITING_PUBLISH})
_OF_ATTEMPTS = frozenset({AlertKind.RUN_FAILED, AlertKind.DUPLICATES_FOUND})


def decide_round(
    facts: AlertFacts, known: Iterable[AlertRecord], alerting: Alerting, now: datetime
) -> AlertRound:
    opened = {record.alert.key: record for record in known}
    found = {alert.key: alert for alert in find_alerts(facts, alerting.thresholds, now)}
    told = (_tell(alert, opened.get(key), alerting, now) for key, alert in found.items())
    changes = (
        *(change for change in told if change is not None),
        *_resolve(facts, found, opened, alerting),
    )
    telling = {change.alert.key for change in changes}
    seen = (
        key
        for key in found.keys() & opened.keys() - telling
        if now - opened[key].seen_at >= SEEN_EVERY
    )
    return AlertRound(changes=changes, seen=tuple(sorted(seen)))


def _tell(
    alert: Alert, record: AlertRecord | None, alerting: Alerting, now: datetime
) -> AlertChange | None:
    rule = alerting.rule_for(alert)
    if record is None:
        return AlertChange(
            event=AlertEvent.OPENED,
            alert=alert,
            opened_at=now,
            known_told_at=None,
            channels=rule.channels,
        )
    event = _event(alert, record, rule.repeat_hours, now)
    if event is None:
        return None
    return _again(event, alert, record, rule.channels)


def _event(
    alert: Alert, record: AlertRecord, repeat_hours: int | None, now: datetime
) -> AlertEvent | None:
    waited = now - record.told_at
    if alert.digest != record.digest and waited >= CHANGE_PAUSE:
        return AlertEvent.CHANGED
    if repeat_hours is not None and waited >= timedelta(hours=repeat_hours):
        return AlertEvent.REMINDED
    return None


def _resolve(
    facts: AlertFacts,
    found: Mapping[str, Alert],
    opened: Mapping[str, AlertRecord],
    alerting: Alerting,
) -> Iterator[AlertChange]:
    """Whoever was told hears of the end, whatever the rules say by now."""
    for key, record in opened.items():
        if key in found or _is_unsettled(record.alert, facts):
            continue
        channels = tuple(name for name in record.channels if name in alerting.channels)
        yield _again(AlertEvent.RESOLVED, _ended(record.alert, facts), record, channels)


def _again(
    event: AlertEvent, alert: Alert, record: AlertRecord, channels: tuple[str, ...]
) -> AlertChange:
    return AlertChange(
        event=event,
        alert=alert,
        opened_at=record.opened_at,
        known_told_at=record.told_at,
        channels=channels,
    )


def _is_unsettled(alert: Alert, facts: AlertFacts) -> bool:
    return alert.kind in _OF_ATTEMPTS and facts.states.get(RunId(alert.subject)) in _AT_WORK


def _ended(alert: Alert, facts: AlertFacts) -> Alert:
    """The same alert, with why it is over instead of what to do."""
    return Alert(
        kind=alert.kind,
        subject=alert.subject,
        table=alert.table,
        severity=alert.severity,
        title=alert.title,
        message=_why_over(alert, facts),
    )


def _why_over(alert: Alert, facts: AlertFacts) -> str:
    state = facts.states.get(RunId(alert.subject))
    match alert.kind:
        case AlertKind.NOT_FRESH:
            newest = next((one for one in facts.newest if one.table == alert.subject), None)
            seen = f"{newest.day} is accepted" if newest else "it promises nothing any more"
            return f"{alert.table}: {seen}."
        case AlertKind.GAP_NOT_REPAIRABLE:
            return f"{alert.table}: the gap is no longer found, or may be repaired."
        case AlertKind.RECOVERY_FAILED:
            return f"Run {alert.subject} is {state} now, and nothing of it is half done for long."
        case AlertKind.APPROVAL_WAITING if state in _AWAITING:
            return f"Run {alert.subject} is {state} now, and not for longer than it may be."
        case _ if state is RunState.FAILED:
            return _why_over_though_failed(alert, facts)
        case _:
            return f"Run {alert.subject} on {alert.table} is {state} now."


def _why_over_though_failed(alert: Alert, facts: AlertFacts) -> str:
    if any(run.run_id == alert.subject for run in facts.failed):
        return f"What run {alert.subject} staged last for {alert.table} repeats no key."
    return f"Other runs have published all days of {alert.subject} on {alert.table} since."
