"""A round of unattended repair: what is planned, tried again, given up and reported once."""

from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise

import pytest

from backfill_platform.domain.gaps import GapKind
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.modes import RunKind
from backfill_platform.engine.carry_out.controlling import cancel_run
from backfill_platform.engine.carry_out.progress import move_run
from backfill_platform.engine.gaps import finding
from backfill_platform.engine.gaps.finding import find_gaps
from backfill_platform.engine.gaps.memory import GapMemory
from backfill_platform.engine.gaps.repairing import (
    foresee_repairs,
    repair_gaps,
    startable_repairs,
)
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.engine.gaps.conftest import UNTIL_FAILED, carry_out, fail
from backfill_platform_tests.readings import BRONZE, SILVER, week

TWO_DAYS = week(days=2)
AHEAD = f"{BRONZE}:empty-2025-01-03"
NEVER_PUBLISHED = f"{SILVER}:empty-2025-01-01"


@pytest.fixture
def behind(publish):
    """Two days of a week are published; five wait."""
    publish(TWO_DAYS)


def planned_now(platform):
    (planned,) = repair_gaps(platform).planned
    return planned


def test_the_oldest_days_of_a_gap_are_planned_as_a_repair(repairing, behind):
    planned = planned_now(repairing)
    manifest = load_manifest(repairing, planned.run_id)
    assert (str(manifest.target.partitions), manifest.kind, manifest.requested_by) == (
        "2025-01-03..2025-01-05",
        RunKind.REPAIR,
        "gap-repair",
    )
    assert manifest.reason == (
        "INPUT_AHEAD, found unattended: the inputs hold 5 days (2025-01-03..2025-01-07) after the "
        "last day of the table (attempt 1)"
    )


def test_looking_ahead_plans_and_notes_nothing(repairing, behind):
    ahead = foresee_repairs(repairing)
    assert [str(one.days) for one in ahead.planned] == ["2025-01-03..2025-01-05"]
    assert repairing.ledger.runs(kind=RunKind.REPAIR) == ()
    assert repairing.ledger.lasting_gaps([BRONZE, SILVER]) == {}


def test_a_round_does_what_a_look_ahead_has_shown(repairing, behind):
    ahead, done = foresee_repairs(repairing), repair_gaps(repairing)
    assert (ahead.planned, ahead.reported) == (done.planned, done.reported)


def test_two_rounds_plan_once_and_tell_once(repairing, behind):
    first, second = repair_gaps(repairing), repair_gaps(repairing)
    assert (len(first.planned), first.told) == (1, {NEVER_PUBLISHED})
    assert (second.planned, second.told) == ((), frozenset())
    assert len(repairing.ledger.runs(kind=RunKind.REPAIR)) == 1


def test_a_round_that_died_after_noting_goes_on(repairing, behind):
    gaps = find_gaps(repairing)
    repairing.ledger.note_gaps(gaps, tables=(BRONZE, SILVER), now=repairing.clock())
    assert len(repair_gaps(repairing).planned) == 1


def test_once_repaired_a_gap_is_resolved_and_the_rest_follows(repairing, behind, clock):
    carry_out(repairing, planned_now(repairing).run_id)
    done = repair_gaps(repairing)
    assert AHEAD in done.changes.resolved
    assert [str(one.days) for one in done.planned] == ["2025-01-06..2025-01-07"]
    carry_out(repairing, done.planned[0].run_id)
    assert [gap.table for gap in find_gaps(repairing)] == [SILVER]


def test_a_failed_attempt_is_replaced_by_the_next_after_its_wait(repairing, behind, clock):
    first = planned_now(repairing)
    fail(repairing, first.run_id)
    (waits,) = repair_gaps(repairing).postponed
    assert waits.why == f"{first.run_id} did not mend it; it is tried again after a while"
    clock.advance(minutes=15)
    second = planned_now(repairing)
    assert (second.attempt, repairing.ledger.run(first.run_id).state) == (2, RunState.CANCELLED)


def test_after_its_attempts_a_gap_is_reported_once(repairing, behind, clock):
    for _ in range(2):
        fail(repairing, planned_now(repairing).run_id)
        clock.advance(minutes=60)
    done = repair_gaps(repairing)
    assert (done.planned, done.told) == ((), {AHEAD})
    assert "2 attempts did not mend it" in done.reported[0].why
    clock.advance(minutes=600)
    assert repair_gaps(repairing).told == frozenset()
    assert len(repairing.ledger.runs(kind=RunKind.REPAIR)) == 2


def test_a_repair_that_somebody_cancelled_is_left_alone(repairing, behind, clock):
    run_id = planned_now(repairing).run_id
    said = {"actor": "ana", "reason": "the source is wrong", "now": clock()}
    cancel_run(repairing.ledger, repairing.evidence, run_id, **said)
    clock.advance(minutes=600)
    done = repair_gaps(repairing)
    assert (done.planned, done.told) == ((), {AHEAD})


def test_a_refused_plan_is_reported_with_its_reasons_and_not_tried_each_time(
    repairing, behind, clock
):
    closed = replace(repairing.policy, limits=replace(repairing.policy.limits, max_rows=1))
    refusing = replace(repairing, policy=closed)
    done = repair_gaps(refusing)
    assert done.told == {AHEAD, NEVER_PUBLISHED}
    assert done.reported[0].why.startswith("its plan is refused: ")
    clock.advance(minutes=1)
    assert repair_gaps(repairing).planned == ()
    clock.advance(minutes=60)
    assert len(repair_gaps(repairing).planned) == 1


def test_what_a_day_may_read_is_kept(repairing, behind):
    rules = repairing.policy.repairs
    assert rules is not None
    small = replace(repairing.policy, repairs=replace(rules, rows_per_day=9))
    poor = replace(repairing, policy=small)
    carry_out(poor, planned_now(poor).run_id)
    (waits,) = repair_gaps(poor).postponed
    assert waits.why == "with it, all of today would read 10 rows, and 9 a day are allowed"


def test_without_the_section_everything_is_reported(repairing, behind):
    silent = replace(repairing, policy=replace(repairing.policy, repairs=None))
    done = repair_gaps(silent)
    assert (done.planned, len(done.reported), startable_repairs(silent)) == ((), 2, ())


def test_a_run_that_failed_is_taken_over_after_a_while(repairing, publish, intent, clock):
    publish(TWO_DAYS)
    failed = plan_run(repairing, intent(BRONZE, week(date(2025, 1, 3), days=1), "ana"))
    fail(repairing, failed.run_id)
    assert GapKind.RUN_ENDED in [waits.gap.kind for waits in repair_gaps(repairing).postponed]
    clock.advance(minutes=15)
    assert find_gaps(repairing)[0].kind is GapKind.RUN_ENDED


def test_what_asks_nobody_may_start_and_publish_until_it_is_done(repairing, behind):
    run_id = planned_now(repairing).run_id
    assert [(one.run_id, one.publishes) for one in startable_repairs(repairing)] == [(run_id, True)]
    carry_out(repairing, run_id)
    assert startable_repairs(repairing) == ()


def test_a_repair_that_nobody_began_makes_room_for_the_next_attempt(repairing, behind, clock):
    first = planned_now(repairing)
    clock.advance(minutes=119)
    assert repair_gaps(repairing).planned == ()
    clock.advance(minutes=1)
    assert "did not mend it" in repair_gaps(repairing).postponed[0].why
    assert repairing.ledger.run(first.run_id).state is RunState.EXPIRED
    clock.advance(minutes=15)
    assert planned_now(repairing).attempt == 2


def test_a_repair_that_has_begun_is_left_to_whoever_recovers_runs(repairing, behind, clock):
    run_id = planned_now(repairing).run_id
    for state, following in pairwise(UNTIL_FAILED[:-1]):
        move_run(repairing, run_id, state, following, "tests")
    clock.advance(minutes=600)
    assert repair_gaps(repairing).planned == ()
    assert repairing.ledger.run(run_id).state is RunState.STAGING


def test_of_tables_that_are_left_to_the_next_tick_nothing_is_resolved(
    repairing, behind, monkeypatch
):
    repair_gaps(repairing)
    noted = set(repairing.ledger.lasting_gaps([SILVER]))
    monkeypatch.setattr(finding, "LONGEST", timedelta(seconds=-1))
    done = repair_gaps(repairing, memory=GapMemory())
    assert (done.left, done.changes.resolved) == ((SILVER,), ())
    assert noted == set(repairing.ledger.lasting_gaps([SILVER])) == {NEVER_PUBLISHED}


class CountingLedger(Ledger):
    """Counts how often a single run, with its manifest, is read."""

    reads = 0

    def run(self, run_id):
        type(self).reads += 1
        return super().run(run_id)


def test_a_quiet_look_reads_no_manifest_however_many_runs_there_were(repairing, publish):
    for day in week():
        publish([day], f"by-hand-{day}")
    counting = CountingLedger(repairing.ledger._engine)
    find_gaps(replace(repairing, ledger=counting))
    assert CountingLedger.reads == 0
