"""What happens to runs and tables becomes alerts, and their end becomes one, too. No Spark."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from backfill_platform.domain.alerts import AlertEvent, AlertKind, AlertRound
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.runs import AcceptedRows, PublicationIntent
from backfill_platform.domain.verdicts import Gate
from backfill_platform.engine.alerts.raising import raise_alerts
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform, load_policy
from backfill_platform_tests.engine.alerts.conftest import Time
from backfill_platform_tests.engine.alerts.reported import report_gaps
from backfill_platform_tests.engine.by_hand import stage_by_hand
from backfill_platform_tests.engine.lives import (
    NOW,
    claim,
    move,
    publish_whole,
    stage,
    stage_whole,
)
from backfill_platform_tests.readings import BRONZE, week

E, K, S = AlertEvent, AlertKind, RunState

POLICIES = Path(__file__).parents[2] / "policies"


def told(found: AlertRound) -> list[tuple[AlertEvent, AlertKind]]:
    return [(change.event, change.alert.kind) for change in found.changes]


def fail(platform: Platform, manifest: Manifest, *gates: Gate) -> None:
    move(platform.ledger, manifest, S.PLANNED, S.APPROVED, S.STAGING)
    stage(platform.ledger, manifest, manifest.target.partitions.span, failing=gates)
    move(platform.ledger, manifest, S.STAGING, S.FAILED)


def publish(platform: Platform, manifest: Manifest) -> None:
    stage_whole(platform.ledger, manifest)
    publish_whole(platform.ledger, manifest)


def test_where_everything_is_well_nobody_hears_anything(alerted: Platform, planned) -> None:
    assert raise_alerts(alerted) == AlertRound(changes=())


def test_a_failed_run_is_told_once(alerted: Platform, planned: Manifest, time: Time) -> None:
    fail(alerted, planned, Gate.VALUES_VALID)
    assert told(raise_alerts(alerted)) == [(E.OPENED, K.RUN_FAILED)]
    time.go(minutes=1)
    assert told(raise_alerts(alerted)) == []


def test_duplicates_are_told_beside_the_failure(alerted: Platform, planned: Manifest) -> None:
    fail(alerted, planned, Gate.KEY_UNIQUE)
    assert told(raise_alerts(alerted)) == [(E.OPENED, K.RUN_FAILED), (E.OPENED, K.DUPLICATES_FOUND)]


def test_a_retry_ends_nothing_until_it_has_come_through(
    alerted: Platform, planned: Manifest, time: Time
) -> None:
    fail(alerted, planned, Gate.KEY_UNIQUE)
    raise_alerts(alerted)
    time.go(minutes=1)
    move(alerted.ledger, planned, S.FAILED, S.STAGING)
    assert told(raise_alerts(alerted)) == []
    stage(alerted.ledger, planned, planned.target.partitions.span)
    move(alerted.ledger, planned, S.STAGING, S.STAGED, S.VALIDATED)
    assert told(raise_alerts(alerted)) == [
        (E.RESOLVED, K.DUPLICATES_FOUND),
        (E.RESOLVED, K.RUN_FAILED),
    ]


def test_an_unattended_repair_that_fails_is_no_alert_of_its_own(alerted: Platform, intent) -> None:
    policy = load_policy(POLICIES / "repairs.yaml")
    assert policy.repairs is not None
    mended = intent(BRONZE, week(days=3), "repair:1", requested_by=policy.repairs.requested_by)
    fail(alerted, plan_run(alerted, mended))
    assert told(raise_alerts(replace(alerted, policy=policy))) == []


def test_a_cancelled_run_is_nobodys_worry(alerted: Platform, planned: Manifest) -> None:
    fail(alerted, planned)
    raise_alerts(alerted)
    move(alerted.ledger, planned, S.FAILED, S.CANCELLED)
    assert told(raise_alerts(alerted)) == [(E.RESOLVED, K.RUN_FAILED)]


def test_what_another_run_has_published_since_has_not_failed(
    alerted: Platform, planned: Manifest, intent, time: Time
) -> None:
    move(alerted.ledger, planned, S.PLANNED, S.APPROVED, S.STAGING, S.FAILED)
    raise_alerts(alerted)
    _publish_later(alerted, plan_run(alerted, intent(BRONZE, week(days=3), "plan:2")))
    (change,) = raise_alerts(alerted).changes
    assert change.event is E.RESOLVED
    assert change.alert.message.startswith("Other runs have published all days of")


def _publish_later(platform: Platform, manifest: Manifest) -> None:
    later, intended = NOW + timedelta(minutes=5), _intent(manifest)
    platform.ledger.record_intent(intended, now=later)
    rows = [AcceptedRows(day=day, row_count=1, checksum="c") for day in intended.days]
    platform.ledger.record_fact(intended.publication_id, version=1, accepted=rows, now=later)


def _intent(manifest: Manifest) -> PublicationIntent:
    days = manifest.target.partitions.span
    return PublicationIntent(
        publication_id=f"{manifest.run_id}/{days}",
        run_id=manifest.run_id,
        table=manifest.target.table,
        days=tuple(days),
        base={},
        files_count=1,
    )


def test_a_failure_of_last_month_is_no_news(
    alerted: Platform, planned: Manifest, time: Time
) -> None:
    fail(alerted, planned)
    time.go(days=30)
    assert told(raise_alerts(alerted)) == []


def test_a_failure_that_was_told_stays_open_for_as_long_as_it_lasts(
    alerted: Platform, planned: Manifest, time: Time
) -> None:
    fail(alerted, planned)
    raise_alerts(alerted)
    time.go(days=30)
    assert told(raise_alerts(alerted)) == [(E.REMINDED, K.RUN_FAILED)]


def test_consent_that_nobody_gives_is_missed_with_its_roles(
    alerted: Platform, planned: Manifest, time: Time
) -> None:
    move(alerted.ledger, planned, S.PLANNED, S.AWAITING_APPROVAL)
    assert told(raise_alerts(alerted)) == []
    time.go(hours=24)
    (change,) = raise_alerts(alerted).changes
    assert change.alert.kind is K.APPROVAL_WAITING
    move(alerted.ledger, planned, S.AWAITING_APPROVAL, S.APPROVED)
    assert told(raise_alerts(alerted)) == [(E.RESOLVED, K.APPROVAL_WAITING)]


def test_a_review_that_nobody_gives_is_missed(
    alerted: Platform, planned: Manifest, time: Time
) -> None:
    days = planned.target.partitions
    stage_by_hand(alerted, planned, dict.fromkeys(days, ("a",)), held=[days.span.start])
    assert told(raise_alerts(alerted)) == []
    time.go(hours=24)
    (change,) = raise_alerts(alerted).changes
    assert "the review of 1 held verdict by an owner" in change.alert.title


@pytest.fixture
def fresh(alerted: Platform) -> Platform:
    """A platform whose bronze table promises a newer day every thirty hours."""
    spec = replace(alerted.catalog.tables[BRONZE], fresh_within_hours=30)
    tables = {**alerted.catalog.tables, BRONZE: spec}
    return replace(alerted, catalog=replace(alerted.catalog, tables=tables))


def test_a_table_that_has_never_held_anything_breaks_no_promise(fresh: Platform) -> None:
    assert told(raise_alerts(fresh)) == []


def test_a_table_that_breaks_its_promise_is_told(
    fresh: Platform, planned: Manifest, time: Time
) -> None:
    publish(fresh, planned)
    assert told(raise_alerts(fresh)) == []
    time.go(hours=31)
    (change,) = raise_alerts(fresh).changes
    assert (change.alert.kind, change.alert.subject) == (K.NOT_FRESH, BRONZE)
    assert "The newest day of bronze.readings is 2025-01-03" in change.alert.message


def test_a_process_that_died_is_told_when_nothing_has_recovered_it(
    alerted: Platform, planned: Manifest, time: Time
) -> None:
    move(alerted.ledger, planned, S.PLANNED, S.APPROVED, S.STAGING)
    claim(alerted.ledger, planned, planned.target.partitions.span)
    time.go(minutes=20)
    assert told(raise_alerts(alerted)) == []
    time.go(minutes=20)
    assert told(raise_alerts(alerted)) == [(E.OPENED, K.RECOVERY_FAILED)]


def test_an_unknown_outcome_is_told_until_it_is_known(
    alerted: Platform, planned: Manifest, time: Time
) -> None:
    stage_whole(alerted.ledger, planned)
    alerted.ledger.record_intent(_intent(planned), now=NOW)
    time.go(minutes=30)
    assert told(raise_alerts(alerted)) == [(E.OPENED, K.RECOVERY_FAILED)]
    alerted.ledger.give_up_intent(_intent(planned).publication_id, now=time())
    assert told(raise_alerts(alerted)) == [(E.RESOLVED, K.RECOVERY_FAILED)]


def test_a_gap_is_told_once_and_again_when_it_changes(alerted: Platform, time: Time) -> None:
    report_gaps(alerted, {"gap-1": "2025-01-03 is missing."})
    assert told(raise_alerts(alerted)) == [(E.OPENED, K.GAP_NOT_REPAIRABLE)]
    time.go(hours=1)
    assert told(raise_alerts(alerted)) == []
    report_gaps(alerted, {"gap-1": "2025-01-03..2025-01-04 are missing."})
    assert told(raise_alerts(alerted)) == [(E.CHANGED, K.GAP_NOT_REPAIRABLE)]
    report_gaps(alerted, {})
    assert told(raise_alerts(alerted)) == [(E.RESOLVED, K.GAP_NOT_REPAIRABLE)]


def test_looking_runs_nothing_and_moves_nothing(alerted: Platform, planned: Manifest) -> None:
    fail(alerted, planned, Gate.KEY_UNIQUE)
    before = (alerted.ledger.runs(), alerted.ledger.events(planned.run_id))
    raise_alerts(alerted)
    assert (alerted.ledger.runs(), alerted.ledger.events(planned.run_id)) == before
