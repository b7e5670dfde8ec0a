"""What is opened, told again, kept and resolved, from what holds and what is open already."""

from dataclasses import replace

import pytest

from backfill_platform.domain.alert_facts import AlertFacts, WaitingRun
from backfill_platform.domain.alerts import Alert, AlertEvent, AlertSeverity
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.governance.alerting import Alerting, AlertRule, next_attempt
from backfill_platform_tests.governance.alert_samples import (
    ALERTING,
    NOW,
    RUN,
    after,
    decide,
    events,
    failed,
    half_done,
    newest,
    recorded,
    repeated,
    standing,
)

E, S = AlertEvent, RunState


@pytest.fixture
def alert() -> Alert:
    return decide(failed()).changes[0].alert


def over(state: RunState) -> AlertFacts:
    return AlertFacts(states={RUN: state})


def ended(state: RunState, alert: Alert) -> str:
    (change,) = decide(over(state), recorded(alert)).changes
    return change.alert.message


def test_what_is_new_is_opened_and_told_by_its_rule() -> None:
    (change,) = decide(failed()).changes
    assert (change.event, change.opened_at, change.channels) == (E.OPENED, NOW, ("log",))
    assert change.known_told_at is None


def test_what_holds_on_is_told_once(alert: Alert) -> None:
    found = decide(failed(), recorded(alert), now=after(minutes=1))
    assert (found.changes, found.seen) == ((), ())


def test_what_holds_on_is_marked_as_seen_every_few_minutes(alert: Alert) -> None:
    assert decide(failed(), recorded(alert), now=after(minutes=6)).seen == (alert.key,)


@pytest.mark.parametrize(("hours", "expected"), [(3.9, []), (4, [E.REMINDED])])
def test_whoever_did_nothing_is_reminded_when_the_rule_says(alert, hours, expected) -> None:
    assert events(decide(failed(), recorded(alert), now=after(hours=hours))) == expected


def test_a_reminder_counts_from_the_one_before(alert: Alert) -> None:
    record = recorded(alert, opened_at=after(hours=-9), told_at=after(hours=-1))
    assert events(decide(failed(), record)) == []


def test_without_hours_nobody_is_reminded(alert: Alert) -> None:
    silent = replace(ALERTING, rules=(AlertRule(name="all", channels=("log",)),))
    assert events(decide(failed(), recorded(alert), now=after(days=99), alerting=silent)) == []


def test_what_says_something_else_is_told_at_once(alert: Alert) -> None:
    found = decide(failed(cause="disk full"), recorded(alert), now=after(minutes=15))
    assert events(found) == [E.CHANGED]


def test_what_changes_chunk_by_chunk_is_not_told_chunk_by_chunk(alert: Alert) -> None:
    assert events(decide(failed(cause="disk full"), recorded(alert), now=after(minutes=14))) == []


def test_what_is_over_is_resolved_for_those_who_were_told(alert: Alert) -> None:
    told = recorded(alert, channels=("log", "other", "removed"))
    (change,) = decide(over(S.PUBLISHED), told).changes
    assert (change.event, change.channels) == (E.RESOLVED, ("log", "other"))


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (S.VALIDATED, f"Run {RUN} on silver.totals is VALIDATED now."),
        (S.CANCELLED, f"Run {RUN} on silver.totals is CANCELLED now."),
        (S.FAILED, f"Other runs have published all days of {RUN} on silver.totals since."),
    ],
)
def test_the_end_says_how_it_ended(alert: Alert, state: RunState, said: str) -> None:
    assert ended(state, alert) == said


def test_a_run_that_fails_otherwise_now_repeats_no_key() -> None:
    duplicates = decide(AlertFacts(repeated=(repeated(),))).changes[0].alert
    resolved = decide(failed(), recorded(duplicates)).changes[-1]
    assert resolved.event is E.RESOLVED
    assert resolved.alert.message == f"What run {RUN} staged last for silver.totals repeats no key."


def test_who_waits_for_something_else_now_has_not_waited_long() -> None:
    waiting = WaitingRun(run=standing(S.AWAITING_APPROVAL), since=after(hours=-25))
    unheard = decide(AlertFacts(waiting=(waiting,))).changes[0].alert
    said = ended(S.AWAITING_PUBLISH, unheard)
    assert said == f"Run {RUN} is AWAITING_PUBLISH now, and not for longer than it may be."


@pytest.mark.parametrize("state", [S.STAGING, S.STAGED])
def test_a_run_that_is_tried_again_is_neither_over_nor_new(alert: Alert, state: RunState) -> None:
    found = decide(over(state), recorded(alert), now=after(days=9))
    assert (found.changes, found.seen) == ((), ())


def test_a_run_that_fails_again_alike_tells_nothing_new(alert: Alert) -> None:
    during = decide(over(S.STAGING), recorded(alert), now=after(minutes=1))
    afterwards = decide(failed(), recorded(alert), now=after(minutes=2))
    assert during.changes == afterwards.changes == ()


def test_duplicates_stay_open_while_their_chunk_is_staged_again() -> None:
    duplicates = decide(AlertFacts(repeated=(repeated(),))).changes[0].alert
    assert decide(over(S.STAGING), recorded(duplicates)).changes == ()


def test_a_table_that_is_fresh_again_says_by_which_day() -> None:
    stale = decide(AlertFacts(newest=(newest(hours_ago=40),))).changes[0].alert
    (change,) = decide(AlertFacts(newest=(newest(hours_ago=1),)), recorded(stale)).changes
    assert change.alert.message == "silver.totals: 2026-07-02 is accepted."


def test_what_was_recovered_is_resolved() -> None:
    left = decide(AlertFacts(half_done=(half_done(minutes_ago=60),))).changes[0].alert
    said = ended(S.PUBLISHED, left)
    assert said == f"Run {RUN} is PUBLISHED now, and nothing of it is half done for long."


def test_the_order_of_facts_and_records_decides_nothing(alert: Alert) -> None:
    facts = AlertFacts(
        failed=failed().failed,
        repeated=(repeated(),),
        newest=(newest(hours_ago=40),),
        states={RUN: S.FAILED},
    )
    known = [recorded(change.alert) for change in decide(facts).changes]
    there = decide(AlertFacts(), *known, now=after(hours=1))
    back = decide(AlertFacts(), *reversed(known), now=after(hours=1))
    assert set(there.changes) == set(back.changes)
    assert len(there.changes) == 3


def test_the_first_rule_that_matches_decides(alert: Alert) -> None:
    rules = (
        AlertRule(name="warnings", severities=(AlertSeverity.WARNING,), channels=("log",)),
        AlertRule(name="silver", tables=("silver.*",), channels=("other",)),
        AlertRule(name="rest", channels=("log", "other")),
    )
    alerting = Alerting(channels=ALERTING.channels, rules=rules)
    assert alerting.rule_for(alert).name == "silver"
    assert decide(failed(), alerting=alerting).changes[0].channels == ("other",)


def test_what_nobody_is_told_of_is_open_all_the_same() -> None:
    nobody = Alerting(channels={}, rules=(AlertRule(name="nobody"),))
    (change,) = decide(failed(), alerting=nobody).changes
    assert (change.event, change.channels) == (E.OPENED, ())


def test_a_message_is_tried_again_later_and_later_and_at_least_every_hour() -> None:
    minutes = [(next_attempt(count, NOW) - NOW).total_seconds() / 60 for count in (1, 2, 3, 7, 99)]
    assert minutes == [1, 2, 4, 60, 60]
