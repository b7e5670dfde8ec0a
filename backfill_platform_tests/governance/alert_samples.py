"""Facts and records of alerts, with only what a test is about to be named."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from backfill_platform.domain.alert_channels import FileChannel
from backfill_platform.domain.alert_facts import (
    AlertFacts,
    HalfDone,
    NewestDay,
    RepeatedKeys,
    StandingRun,
)
from backfill_platform.domain.alerts import Alert, AlertEvent, AlertRecord, AlertRound
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.governance.alert_round import decide_round
from backfill_platform.governance.alerting import Alerting, AlertRule

NOW = datetime(2026, 7, 4, 9, 0, tzinfo=UTC)
RUN = RunId("bf-20260704-totals-1.0.0-001")
TABLE = "silver.totals"
DAYS = PartitionSet.of_range(DayRange.closed(date(2025, 1, 1), date(2025, 1, 5)))
ALERTING = Alerting(
    channels={"log": FileChannel(path="log"), "other": FileChannel(path="other")},
    rules=(AlertRule(name="all", channels=("log",), repeat_hours=4),),
)


def after(**units: float) -> datetime:
    return NOW + timedelta(**units)


def standing(state: RunState = RunState.FAILED, **changed: Any) -> StandingRun:
    run = StandingRun(
        run_id=RUN,
        table=TABLE,
        state=state,
        actor="ana",
        reason="wrong zone",
        days=DAYS,
        entered_at=NOW,
        cause="chunk 2025-01-01 failed",
        never_publishes=False,
    )
    return replace(run, **changed)


def failed(**changed: Any) -> AlertFacts:
    return AlertFacts(failed=(standing(**changed),), states={RUN: RunState.FAILED})


def repeated(**changed: Any) -> RepeatedKeys:
    found = RepeatedKeys(
        run_id=RUN,
        table=TABLE,
        days=1,
        first=date(2025, 1, 3),
        last=date(2025, 1, 3),
        message="25 rows repeat the key",
    )
    return replace(found, **changed)


def newest(*, hours_ago: float) -> NewestDay:
    return NewestDay(
        table=TABLE,
        day=date(2026, 7, 2),
        accepted_at=after(hours=-hours_ago),
        fresh_within_hours=36,
    )


def half_done(*, minutes_ago: float, what: str = "a publication was begun") -> HalfDone:
    return HalfDone(run_id=RUN, table=TABLE, what=what, since=after(minutes=-minutes_ago))


def recorded(alert: Alert, **changed: Any) -> AlertRecord:
    record = AlertRecord(
        alert=alert,
        digest=alert.digest,
        opened_at=NOW,
        seen_at=NOW,
        told_at=NOW,
        resolved_at=None,
        channels=("log",),
    )
    return replace(record, **changed)


def decide(
    facts: AlertFacts, *known: AlertRecord, now: datetime = NOW, alerting: Alerting = ALERTING
) -> AlertRound:
    return decide_round(facts, known, alerting, now)


def events(found: AlertRound) -> list[AlertEvent]:
    return [change.event for change in found.changes]
