"""Reads what alerts are decided on, from the ledger alone: few rows, however much has happened."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from backfill_platform.domain.alert_facts import (
    AlertFacts,
    NewestDay,
    ReportedGap,
    StandingRun,
    WaitingRun,
)
from backfill_platform.domain.alerts import AlertKind, AlertRecord
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.engine.platform import Platform

# Of each condition; what is open already is looked at besides. Whoever has more than that in front
# of them does not read more messages.
MOST = 100

_S = RunState
_NOT_JUDGED_WELL = frozenset({_S.STAGING, _S.STAGED, _S.FAILED})
_ABOUT_RUNS = frozenset(
    {
        AlertKind.RUN_FAILED,
        AlertKind.DUPLICATES_FOUND,
        AlertKind.APPROVAL_WAITING,
        AlertKind.RECOVERY_FAILED,
    }
)


def read_facts(platform: Platform, known: Iterable[AlertRecord], now: datetime) -> AlertFacts:
    book, thresholds = platform.ledger.alerts, platform.alerting.thresholds
    told = [record.alert.subject for record in known if record.alert.kind in _ABOUT_RUNS]
    stuck = _read_stuck(platform, told, now)
    overdue = now - timedelta(minutes=thresholds.recovery_overdue_minutes)
    return AlertFacts(
        failed=tuple(run for run in stuck if run.state is _S.FAILED and not _tries(platform, run)),
        repeated=book.repeated_keys([run.run_id for run in stuck]),
        waiting=tuple(_read_waiting(platform, now)),
        gaps=tuple(_read_gaps(platform)),
        newest=tuple(_read_newest(platform)),
        half_done=book.half_done(overdue, limit=MOST),
        states=book.states(told),
    )


def _read_stuck(platform: Platform, told: list[str], now: datetime) -> tuple[StandingRun, ...]:
    """Runs whose days are not judged well and not published by anybody else since."""
    since = now - timedelta(days=platform.alerting.thresholds.failed_within_days)
    book = platform.ledger.alerts
    found = book.standing_runs(_NOT_JUDGED_WELL, since=since, also=told, limit=MOST)
    made_good = book.made_good(run for run in found if run.state is _S.FAILED)
    return tuple(run for run in found if run.run_id not in made_good)


def _tries(platform: Platform, run: StandingRun) -> bool:
    """An unattended repair that failed is tried again; when it is not any more, its gap is told."""
    repairs = platform.policy.repairs
    return repairs is not None and run.actor == repairs.requested_by


def _read_waiting(platform: Platform, now: datetime) -> Iterable[WaitingRun]:
    """Only of those that wait too long is it asked for whom."""
    book = platform.ledger.alerts
    too_long_ago = now - timedelta(hours=platform.alerting.thresholds.approval_waiting_hours)
    held = {run.run_id: (run, since) for run, since in book.held_runs(limit=MOST)}
    for run, since in held.values():
        if since <= too_long_ago and (count := book.count_unreviewed(run.run_id)):
            yield WaitingRun(run=run, since=since, held=count)
    for run in book.awaiting_consent(limit=MOST):
        if run.entered_at <= too_long_ago and run.run_id not in held:
            roles = book.missing_roles(run.run_id, now)
            yield WaitingRun(run=run, since=run.entered_at, roles=roles)


def _read_gaps(platform: Platform) -> Iterable[ReportedGap]:
    """What the newest look for gaps found and leaves to somebody."""
    for key, gap in platform.ledger.lasting_gaps(platform.catalog.tables.keys()).items():
        if gap.reported_why is not None:
            why = f"Not repaired by itself: {gap.reported_why}."
            yield ReportedGap(key=key, table=gap.table, message=f"{gap.message} {why}")


def _read_newest(platform: Platform) -> Iterable[NewestDay]:
    asked = {
        table: spec.fresh_within_hours
        for table, spec in platform.catalog.tables.items()
        if spec.fresh_within_hours is not None
    }
    for table, newest in platform.ledger.all_newest_accepted(asked).items():
        yield NewestDay(
            table=table,
            day=newest.day,
            accepted_at=newest.accepted_at,
            fresh_within_hours=asked[table],
        )
