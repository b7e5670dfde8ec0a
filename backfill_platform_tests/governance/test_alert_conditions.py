"""What is worth an alert: each condition, its bounds, and that a message says what to do."""

from datetime import timedelta

import pytest

from backfill_platform.domain.alert_facts import AlertFacts, ReportedGap, WaitingRun
from backfill_platform.domain.alerts import Alert, AlertKind, AlertSeverity
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.governance.alert_conditions import find_alerts
from backfill_platform.governance.alerting import AlertThresholds
from backfill_platform_tests.governance.alert_samples import (
    NOW,
    RUN,
    TABLE,
    after,
    half_done,
    newest,
    repeated,
    standing,
)

DAY = timedelta(hours=24)


def found(facts: AlertFacts, **thresholds: int) -> tuple[Alert, ...]:
    return find_alerts(facts, AlertThresholds(**thresholds), NOW)


def only(facts: AlertFacts) -> Alert:
    (alert,) = found(facts)
    return alert


def waiting(state: RunState, *, hours: float, roles=(), held=0) -> AlertFacts:
    run = WaitingRun(run=standing(state), since=after(hours=-hours), roles=roles, held=held)
    return AlertFacts(waiting=(run,))


def test_where_nothing_stands_badly_there_is_no_alert() -> None:
    assert found(AlertFacts()) == ()


def test_a_failed_run_says_why_it_failed_and_what_to_type() -> None:
    alert = only(AlertFacts(failed=(standing(),)))
    assert (alert.kind, alert.subject, alert.table) == (AlertKind.RUN_FAILED, RUN, TABLE)
    assert alert.severity is AlertSeverity.CRITICAL
    assert "failed at 2026-07-04 09:00 UTC: chunk 2025-01-01 failed." in alert.message
    assert f"`backfill retry {RUN}`" in alert.message


def test_for_a_dry_run_that_failed_nobody_is_woken() -> None:
    alert = only(AlertFacts(failed=(standing(never_publishes=True),)))
    assert alert.severity is AlertSeverity.WARNING


def test_a_cause_of_many_lines_becomes_one_that_can_be_read() -> None:
    alert = only(AlertFacts(failed=(standing(cause="a\n" * 9_000),)))
    assert "\n" not in alert.message
    assert len(alert.message) < 1_000


def test_duplicates_are_told_with_their_days_and_how_many_rows() -> None:
    alert = only(AlertFacts(repeated=(repeated(),)))
    assert alert.kind is AlertKind.DUPLICATES_FOUND
    assert "on 2025-01-03: 25 rows repeat the key." in alert.message


def test_duplicates_on_many_days_name_the_first() -> None:
    assert "3 days, 2025-01-03 first" in only(AlertFacts(repeated=(repeated(days=3),))).message


@pytest.mark.parametrize(("hours", "count"), [(23.9, 0), (24, 1), (240, 1)])
def test_consent_is_missed_only_after_a_while(hours: float, count: int) -> None:
    assert len(found(waiting(RunState.AWAITING_APPROVAL, hours=hours))) == count


def test_how_long_consent_may_take_is_said_in_the_file() -> None:
    facts = waiting(RunState.AWAITING_APPROVAL, hours=3)
    assert len(found(facts, approval_waiting_hours=2)) == 1


def test_a_run_that_waits_says_for_whom() -> None:
    roles = ("manager", "director")
    alert = only(waiting(RunState.AWAITING_APPROVAL, hours=25, roles=roles))
    assert alert.title.endswith(
        "waits for consent of manager and of director before it is computed"
    )
    assert f"`backfill approve {RUN}` or `backfill reject {RUN}`" in alert.message


def test_before_publication_an_approver_is_led_to_what_would_change() -> None:
    alert = only(waiting(RunState.AWAITING_PUBLISH, hours=25))
    assert f"`backfill compare {RUN}`" in alert.message


def test_what_is_held_waits_for_a_review() -> None:
    alert = only(waiting(RunState.VALIDATED, hours=25, held=3))
    assert "the review of 3 held verdicts by an owner" in alert.title
    assert f"`backfill review {RUN}`" in alert.message


def test_a_gap_that_is_not_repaired_says_why() -> None:
    gap = ReportedGap(key="gap-1", table=TABLE, message="Nobody may repair 2025-01-03.")
    alert = only(AlertFacts(gaps=(gap,)))
    assert (alert.key, alert.table) == ("GAP_NOT_REPAIRABLE:gap-1", TABLE)
    assert alert.message.startswith("Nobody may repair 2025-01-03.")


@pytest.mark.parametrize(("hours", "count"), [(36, 0), (36.1, 1)])
def test_a_table_is_fresh_as_long_as_it_promises(hours: float, count: int) -> None:
    assert len(found(AlertFacts(newest=(newest(hours_ago=hours),)))) == count


def test_a_message_says_the_same_as_long_as_nothing_changes() -> None:
    facts = AlertFacts(newest=(newest(hours_ago=40),), failed=(standing(),))
    later = find_alerts(facts, AlertThresholds(), NOW + DAY)
    assert [alert.digest for alert in found(facts)] == [alert.digest for alert in later]


@pytest.mark.parametrize(("minutes", "count"), [(29, 0), (30, 1)])
def test_recovery_has_its_time_first(minutes: float, count: int) -> None:
    assert len(found(AlertFacts(half_done=(half_done(minutes_ago=minutes),)))) == count


def test_a_run_is_half_done_once_by_what_has_waited_longest() -> None:
    left = (
        half_done(minutes_ago=40, what="a chunk was being computed"),
        half_done(minutes_ago=90, what="a publication was begun"),
    )
    assert (
        "a publication was begun since 2026-07-04 07:30" in only(AlertFacts(half_done=left)).message
    )
