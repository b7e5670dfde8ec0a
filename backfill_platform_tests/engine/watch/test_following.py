"""What is restated below a table that has changed: exactly what was computed from other rows."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

import pytest

from backfill_platform.domain.identity import GroupId, RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import ExecutionMode, Knowledge, PublishMode, RunKind
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.engine.carry_out.progress import move_run
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.engine.watch.following import ORIGIN, Followed, follow_run
from backfill_platform.planner.rollback_facts import RollbackRequest
from backfill_platform_tests.engine.by_hand import run_by_hand, stage_by_hand
from backfill_platform_tests.readings import BRONZE, SILVER, START, week

DAYS = week()
MIDDLE = DayRange.of_day(START + timedelta(days=3))  # silver reads a day before and one after
AROUND = MIDDLE.widen(before_days=1, after_days=1)

LAUNCH = GroupId("one-launch")

Publish = Callable[..., Manifest]


@pytest.fixture
def publish(platform: Platform, intent) -> Publish:
    """By hand; every row of a day is named by one of these, in silver by a number."""

    def publish(table: str, days: DayRange, *rows: str, **said) -> Manifest:
        origin = f"{table} {days} {rows}"
        manifest = plan_run(platform, intent(table, days, origin, **said))
        run_by_hand(platform, manifest, dict.fromkeys(days, rows))
        return manifest

    return publish


@pytest.fixture
def below(publish: Publish) -> None:
    """Bronze and, computed from it, silver."""
    publish(BRONZE, DAYS, "a")
    publish(SILVER, DAYS, "1")


def undo(platform: Platform, manifest: Manifest) -> RunId:
    request = RollbackRequest(
        run_id=manifest.run_id, days=None, reason="wrong", requested_by="tests"
    )
    return roll_back(platform, plan_rollback(platform, request).run_id).manifest.run_id


def restated(platform: Platform, followed: Followed) -> list[PartitionSet]:
    assert followed.waits == ()
    return [load_manifest(platform, run_id).target.partitions for run_id in followed.planned]


def test_days_that_read_a_changed_day_are_restated(platform, below, publish) -> None:
    changed = publish(BRONZE, MIDDLE, "b")
    followed = follow_run(platform, changed.run_id)
    assert restated(platform, followed) == [PartitionSet.of_range(AROUND)]


def test_a_restatement_names_what_it_follows_and_stands_in_its_group(
    platform, below, publish
) -> None:
    changed = publish(BRONZE, MIDDLE, "b", ticket="T-1")
    (run_id,) = follow_run(platform, changed.run_id).planned
    manifest, record = load_manifest(platform, run_id), platform.ledger.run(run_id)
    assert (manifest.kind, manifest.group_id) == (RunKind.RESTATEMENT, changed.group_id)
    assert (manifest.ticket, record.table) == ("T-1", SILVER)
    assert record.origin == f"{ORIGIN}{changed.run_id}/{MIDDLE}:{SILVER}"
    assert record.reason == f"{changed.run_id} changed {BRONZE} (tests)"


def test_following_twice_plans_once(platform, below, publish) -> None:
    changed = publish(BRONZE, MIDDLE, "b")
    first = follow_run(platform, changed.run_id)
    assert follow_run(platform, changed.run_id) == first
    assert len(platform.ledger.runs(SILVER)) == 2


def test_a_restatement_that_somebody_cancelled_is_not_planned_again(
    platform, below, publish
) -> None:
    changed = publish(BRONZE, MIDDLE, "b")
    (run_id,) = follow_run(platform, changed.run_id).planned
    move_run(platform, run_id, RunState.PLANNED, RunState.CANCELLED, "not now")
    assert follow_run(platform, changed.run_id).planned == (run_id,)


def test_what_was_restated_is_up_to_date(platform, below, publish) -> None:
    changed = publish(BRONZE, MIDDLE, "b")
    publish(SILVER, AROUND, "2")
    assert follow_run(platform, changed.run_id) == Followed(planned=(), waits=())


def test_what_the_same_launch_computed_anew_and_found_equal_is_up_to_date(
    platform, below, publish
) -> None:
    changed = publish(BRONZE, MIDDLE, "b", group_id=LAUNCH)
    publish(SILVER, AROUND, "1", group_id=LAUNCH)
    assert follow_run(platform, changed.run_id) == Followed(planned=(), waits=())


def test_what_the_same_launch_computed_before_the_change_is_restated(
    platform, below, publish
) -> None:
    publish(SILVER, AROUND, "1", group_id=LAUNCH)
    changed = publish(BRONZE, MIDDLE, "b", group_id=LAUNCH)
    followed = follow_run(platform, changed.run_id)
    assert restated(platform, followed) == [PartitionSet.of_range(AROUND)]


def test_only_days_that_are_accepted_below_are_restated(platform, publish) -> None:
    publish(BRONZE, DAYS, "a")
    publish(SILVER, MIDDLE, "1")
    changed = publish(BRONZE, MIDDLE, "b")
    followed = follow_run(platform, changed.run_id)
    assert restated(platform, followed) == [PartitionSet.of_range(MIDDLE)]


def test_what_nobody_below_has_read_wakes_nobody(platform, publish) -> None:
    first = publish(BRONZE, DAYS, "a")
    assert follow_run(platform, first.run_id) == Followed(planned=(), waits=())


def test_a_day_that_arrived_after_a_run_that_knew_only_its_own_wakes_nobody(
    platform, publish
) -> None:
    publish(BRONZE, week(days=3), "a")
    known_then = {
        "kind": RunKind.LIVE,
        "mode": ExecutionMode.LIVE,
        "knowledge": Knowledge.AS_KNOWN_THEN,
    }
    publish(SILVER, week(days=3), "1", **known_then)
    following = publish(BRONZE, MIDDLE, "a")
    assert follow_run(platform, following.run_id).planned == ()


def test_equal_rows_wake_nobody(platform, below, publish, intent) -> None:
    again = plan_run(platform, intent(BRONZE, DAYS, "again"))
    run_by_hand(platform, again, dict.fromkeys(DAYS, ("a",)))
    assert follow_run(platform, again.run_id) == Followed(planned=(), waits=())


def test_what_changed_and_is_back_as_it_was_wakes_nobody(platform, below, publish) -> None:
    changed = publish(BRONZE, MIDDLE, "b")
    rollback = undo(platform, changed)
    assert follow_run(platform, changed.run_id).planned == ()
    assert follow_run(platform, rollback).planned == ()


def test_a_rollback_restates_what_was_computed_from_the_rows_that_it_took_back(
    platform, below, publish
) -> None:
    changed = publish(BRONZE, MIDDLE, "b")
    publish(SILVER, AROUND, "2")
    followed = follow_run(platform, undo(platform, changed))
    assert restated(platform, followed) == [PartitionSet.of_range(AROUND)]


def test_days_that_an_unfinished_run_reads_anew_are_left_to_it(
    platform, below, publish, intent
) -> None:
    changed = publish(BRONZE, MIDDLE, "b")
    plan_run(platform, intent(SILVER, AROUND, "on its way"))
    assert follow_run(platform, changed.run_id) == Followed(planned=(), waits=())


def test_an_unfinished_run_of_former_rows_is_waited_for(platform, below, publish, intent) -> None:
    former = plan_run(platform, intent(SILVER, AROUND, "on its way"))
    changed = publish(BRONZE, MIDDLE, "b")
    followed = follow_run(platform, changed.run_id)
    assert followed.planned == ()
    assert former.run_id in followed.waits[0]


def test_after_it_was_waited_for_its_days_are_restated(platform, below, publish, intent) -> None:
    former = plan_run(platform, intent(SILVER, AROUND, "on its way"))
    changed = publish(BRONZE, MIDDLE, "b")
    follow_run(platform, changed.run_id)
    run_by_hand(platform, former, dict.fromkeys(AROUND, ("3",)))
    followed = follow_run(platform, changed.run_id)
    assert restated(platform, followed) == [PartitionSet.of_range(AROUND)]


def test_chunks_of_one_run_are_followed_by_one_restatement(platform, below, intent) -> None:
    changed = plan_run(platform, intent(BRONZE, DAYS, "by chunks"))
    parts = DAYS.split(4)
    stage_by_hand(platform, changed, dict.fromkeys(DAYS, ("b",)), parts)
    for part in parts:
        publish_chunk(platform, changed.run_id, part)
    followed = follow_run(platform, changed.run_id)
    assert restated(platform, followed) == [PartitionSet.of_range(DAYS)]


def test_a_run_that_published_nothing_is_followed_by_nothing(platform, intent) -> None:
    planned = plan_run(platform, intent(BRONZE, DAYS, "planned"))
    assert follow_run(platform, planned.run_id) == Followed(planned=(), waits=())


def test_a_plan_that_is_refused_says_why_and_waits(platform, below, publish) -> None:
    changed = publish(BRONZE, MIDDLE, "b")
    tables = dict(platform.catalog.tables)
    tables[SILVER] = replace(tables[SILVER], publish_mode=PublishMode.APPEND_ONLY)
    strict = replace(platform, catalog=replace(platform.catalog, tables=tables))
    followed = follow_run(strict, changed.run_id)
    assert (followed.planned, followed.is_settled) == ((), False)
    assert followed.waits[0].startswith(f"{SILVER} after {changed.run_id}: The plan is refused")


def test_days_to_come_are_not_reached(platform, below, publish) -> None:
    changed = publish(BRONZE, DayRange.of_day(DAYS.last), "b")
    (days,) = restated(platform, follow_run(platform, changed.run_id))
    assert days.span.last == DAYS.last
    assert days.span.start == date(2025, 1, 6)
