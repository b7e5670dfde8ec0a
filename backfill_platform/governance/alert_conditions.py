"""Which facts are worth an alert, and what it says: what, which, and what to do now.

A message holds no figure that moves by itself, such as an age: it would be told again each time.
Whether an alert is new, and who hears of it, is decided in `alert_round`.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from backfill_platform.domain.alert_facts import (
    AlertFacts,
    HalfDone,
    NewestDay,
    RepeatedKeys,
    ReportedGap,
    StandingRun,
    WaitingRun,
)
from backfill_platform.domain.alerts import Alert, AlertKind, AlertSeverity
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.reviews import review_of
from backfill_platform.governance.alerting import AlertThresholds

_LONGEST_CAUSE = 400
_RANGES_SHOWN = 4


def find_alerts(facts: AlertFacts, thresholds: AlertThresholds, now: datetime) -> tuple[Alert, ...]:
    return (
        *map(_failed, facts.failed),
        *map(_repeated, facts.repeated),
        *_waiting(facts, now - timedelta(hours=thresholds.approval_waiting_hours)),
        *map(_gap, facts.gaps),
        *(_stale(newest) for newest in facts.newest if _is_stale(newest, now)),
        *_half_done(facts, now - timedelta(minutes=thresholds.recovery_overdue_minutes)),
    )


def _failed(run: StandingRun) -> Alert:
    """Nobody is woken for what would not have been published either."""
    severity = AlertSeverity.WARNING if run.never_publishes else AlertSeverity.CRITICAL
    return Alert(
        kind=AlertKind.RUN_FAILED,
        subject=run.run_id,
        table=run.table,
        severity=severity,
        title=f"Run {run.run_id} failed",
        message=(
            f"{_days_of(run)} failed at {_instant(run.entered_at)}: {_shortened(run.cause)}. "
            f"{_asked_for(run)} Nobody has taken it up since. `backfill validate {run.run_id}` "
            f"shows what failed; mend it and `backfill retry {run.run_id}`, or end it with "
            f"`backfill cancel {run.run_id}`."
        ),
    )


def _repeated(found: RepeatedKeys) -> Alert:
    days = f"{found.first}" if found.days == 1 else f"{found.days:,} days, {found.first} first"
    return Alert(
        kind=AlertKind.DUPLICATES_FOUND,
        subject=found.run_id,
        table=found.table,
        severity=AlertSeverity.WARNING,
        title=f"Duplicates in {found.table}",
        message=(
            f"Rows that run {found.run_id} staged for {found.table} repeat their key on {days}: "
            f"{_shortened(found.message)}. None of them is published. "
            f"`backfill validate {found.run_id} --rows` shows some; find where they come from, "
            f"then `backfill retry {found.run_id}`."
        ),
    )


def _waiting(facts: AlertFacts, too_long_ago: datetime) -> Iterator[Alert]:
    for waiting in facts.waiting:
        if waiting.since <= too_long_ago:
            yield _unheard(waiting)


def _unheard(waiting: WaitingRun) -> Alert:
    run = waiting.run
    return Alert(
        kind=AlertKind.APPROVAL_WAITING,
        subject=run.run_id,
        table=run.table,
        severity=AlertSeverity.WARNING,
        title=f"Run {run.run_id} waits for {_awaited(waiting)}",
        message=(
            f"{_days_of(run)} waits since {_instant(waiting.since)} for {_awaited(waiting)}. "
            f"{_asked_for(run)} {_way_out(waiting)}"
        ),
    )


def _awaited(waiting: WaitingRun) -> str:
    if waiting.held:
        return review_of(waiting.held)
    what = "computed" if waiting.run.state is RunState.AWAITING_APPROVAL else "published"
    whose = f" of {' and of '.join(waiting.roles)}" if waiting.roles else ""
    return f"consent{whose} before it is {what}"


def _way_out(waiting: WaitingRun) -> str:
    run_id = waiting.run.run_id
    if waiting.held:
        return f"`backfill review {run_id}` shows what is held, and accepts or rejects it."
    look = f"`backfill show {run_id}` shows its plan"
    if waiting.run.state is RunState.AWAITING_PUBLISH:
        look = f"`backfill compare {run_id}` shows what would change"
    return f"{look}; decide with `backfill approve {run_id}` or `backfill reject {run_id}`."


def _gap(gap: ReportedGap) -> Alert:
    return Alert(
        kind=AlertKind.GAP_NOT_REPAIRABLE,
        subject=gap.key,
        table=gap.table,
        severity=AlertSeverity.WARNING,
        title=f"A gap in {gap.table} is not repaired",
        message=f"{gap.message} `backfill gaps {gap.table}` shows what was found.",
    )


def _is_stale(newest: NewestDay, now: datetime) -> bool:
    return now - newest.accepted_at > timedelta(hours=newest.fresh_within_hours)


def _stale(newest: NewestDay) -> Alert:
    return Alert(
        kind=AlertKind.NOT_FRESH,
        subject=newest.table,
        table=newest.table,
        severity=AlertSeverity.CRITICAL,
        title=f"{newest.table} is not fresh",
        message=(
            f"The newest day of {newest.table} is {newest.day}, accepted at "
            f"{_instant(newest.accepted_at)}; the next one was due within "
            f"{newest.fresh_within_hours} hours. `backfill watermark {newest.table}` shows how far "
            f"it has come, and `backfill list --table {newest.table}` what became of its runs."
        ),
    )


def _half_done(facts: AlertFacts, overdue: datetime) -> Iterator[Alert]:
    """One for a run, of what has waited longest."""
    oldest = sorted(facts.half_done, key=lambda one: (one.since, one.what), reverse=True)
    for left in {one.run_id: one for one in oldest}.values():
        if left.since <= overdue:
            yield _unfinished(left)


def _unfinished(left: HalfDone) -> Alert:
    return Alert(
        kind=AlertKind.RECOVERY_FAILED,
        subject=left.run_id,
        table=left.table,
        severity=AlertSeverity.CRITICAL,
        title=f"Run {left.run_id} was left half done",
        message=(
            f"Of run {left.run_id} on {left.table}, {left.what} since {_instant(left.since)}, and "
            "nothing has finished it. Readers of the table see it as before or as after, never in "
            f"between. `backfill recover {left.run_id}` finishes it, or says what is in the way."
        ),
    )


def _days_of(run: StandingRun) -> str:
    return f"{run.table}, {_days(run.days)}," if run.days else run.table


def _days(days: PartitionSet) -> str:
    if len(days.ranges) <= _RANGES_SHOWN:
        return str(days)
    return f"{len(days):,} days between {days.span.start} and {days.span.last}"


def _asked_for(run: StandingRun) -> str:
    return f"{run.actor} asked for it: {_shortened(run.reason)}."


def _shortened(text: str) -> str:
    line = " ".join(text.split()).removesuffix(".")
    return line if len(line) <= _LONGEST_CAUSE else f"{line[: _LONGEST_CAUSE - 2]} …"


def _instant(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
