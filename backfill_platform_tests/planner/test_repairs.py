"""Which gaps are repaired unattended, which wait, and which are only reported."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backfill_platform.domain.gaps import Gap, GapKind, NotedGap
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.limits import DailyWindow
from backfill_platform.domain.partitions import Boundary, DayRange, PartitionSet
from backfill_platform.domain.repairs import RepairRules, RepairRun
from backfill_platform.domain.runs import RunInFlight
from backfill_platform.planner.repair_budget import Taken, keep_budget
from backfill_platform.planner.repair_decisions import (
    Decision,
    Postponed,
    Repair,
    RepairHistory,
    Reported,
)
from backfill_platform.planner.repairs import decide_repairs
from backfill_platform_tests.planner.gap_worlds import LOADED, catalog, january, loaded

SUMMED = "silver.cases"
NOW = datetime(2025, 2, 1, 12, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=1)
OTHER_RUN = RunId("bf-20250201-cases-1.0.0-009")

RULES = RepairRules(
    requested_by="gap-repair",
    tables=("bronze.*", "silver.*"),
    kinds=tuple(GapKind),
    max_days_per_run=3,
    attempts=2,
    back_off_minutes=15,
    runs_per_hour=4,
    rows_per_day=1_000,
)


def gap(first: int, last: int | None = None, **said: Any) -> Gap:
    days = january(first, last)
    default = {
        "table": LOADED,
        "kind": GapKind.MISSING_PARTITION,
        "subject": f"empty-{days.start}",
        "days": PartitionSet.of_range(days),
        "message": "due",
        "fills": True,
    }
    return Gap(**{**default, **said})


def noted(one: Gap, **said: Any) -> NotedGap:
    default: dict[str, Any] = {
        "key": one.key,
        "table": one.table,
        "kind": one.kind,
        "days": one.days,
        "digest": one.digest,
        "message": one.message,
        "first_seen_at": LONG_AGO,
        "last_seen_at": LONG_AGO,
        **dict.fromkeys(
            ("resolved_at", "reported_at", "reported_digest", "reported_why", "refused_at")
        ),
    }
    return NotedGap(**{**default, **said})


def tried(one: Gap, number: int, state: RunState = RunState.FAILED, **said: Any) -> RepairRun:
    default: dict[str, Any] = {
        "run_id": RunId(f"bf-20250201-cases-1.0.0-{number:03d}"),
        "gap_key": one.key,
        "attempt": number,
        "table": one.table,
        "state": state,
        "days": one.days,
        "planned_at": LONG_AGO,
        "updated_at": LONG_AGO,
        "valid_until": None,
    }
    return RepairRun(**{**default, **said})


def at_work(days: DayRange, state: RunState = RunState.STAGING, **said: Any) -> RunInFlight:
    default: dict[str, Any] = {
        "run_id": OTHER_RUN,
        "state": state,
        "days": PartitionSet.of_range(days),
        "requested_by": "gap-repair",
    }
    return RunInFlight(**{**default, **said})


def history(*tries: RepairRun, gaps: tuple[Gap, ...] = (), **said: Any) -> RepairHistory:
    by_key = {
        one.gap_key: tuple(each for each in tries if each.gap_key == one.gap_key) for one in tries
    }
    default: dict[str, Any] = {
        "now": NOW,
        "tried": by_key,
        "noted": {one.key: noted(one) for one in gaps},
        "in_flight": {},
        "planned_at": (),
    }
    return RepairHistory(**{**default, **said})


def decide(*gaps: Gap, rules: RepairRules = RULES, **said: Any) -> tuple[Decision, ...]:
    return decide_repairs(gaps, rules, catalog(), history(gaps=gaps, **said))


def after(one: Gap, *tries: RepairRun, rules: RepairRules = RULES, **said: Any) -> Decision:
    (decision,) = decide_repairs((one,), rules, catalog(), history(*tries, gaps=(one,), **said))
    return decision


def why(decision: Decision) -> str:
    assert isinstance(decision, Reported | Postponed)
    return decision.why


def test_of_a_long_gap_the_oldest_days_are_repaired_first():
    (decision,) = decide(gap(3, 20))
    assert isinstance(decision, Repair)
    assert (str(decision.days), decision.attempt, decision.replaces) == (
        "2025-01-03..2025-01-05",
        1,
        None,
    )


def test_a_policy_that_says_nothing_lets_everything_be_reported():
    (decision,) = decide_repairs((gap(3),), None, catalog(), history())
    assert why(decision) == (
        "the policy has no section `repairs`, so nothing is repaired unattended"
    )


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"kind": GapKind.INPUT_MISSING}, "there is nothing to compute from; have it landed"),
        (
            {"kind": GapKind.RUN_ENDED, "fills": False, "subject": "run-bf-1"},
            "what that run would replace is somebody's decision: `backfill retry bf-1`, or "
            "`backfill cancel bf-1`",
        ),
        (
            {"first_load": True},
            "what was never published is planned by hand: `backfill plan`",
        ),
        (
            {"kind": GapKind.UNEXPLAINED_COMMIT, "days": None, "fills": False},
            "the log does not say which days it touched",
        ),
    ],
)
def test_what_nobody_can_repair_unattended_is_reported(said, expected):
    assert why(after(gap(3, **said))) == expected


def test_a_kind_that_the_policy_does_not_name_is_reported():
    rules = replace(RULES, kinds=(GapKind.LATE_DATA,))
    assert why(after(gap(3), rules=rules)) == (
        "the policy lets no MISSING_PARTITION be repaired unattended"
    )


def test_a_table_that_the_policy_does_not_name_is_reported():
    rules = replace(RULES, tables=("silver.*",))
    assert why(after(gap(3), rules=rules)) == (
        "the policy lets nothing of bronze.cases be repaired unattended"
    )


def test_the_next_attempt_has_the_next_number_and_replaces_the_failed_one():
    decision = after(gap(3), tried(gap(3), 1))
    assert isinstance(decision, Repair)
    assert (decision.attempt, decision.replaces) == (2, "bf-20250201-cases-1.0.0-001")


@pytest.mark.parametrize(("number", "minutes"), [(1, 15), (2, 30), (3, 60)])
def test_each_attempt_waits_twice_as_long_as_the_one_before(number, minutes):
    tries = [tried(gap(3), each) for each in range(1, number)]
    last = tried(gap(3), number, updated_at=NOW - timedelta(minutes=minutes - 1))
    decision = after(gap(3), *tries, last, rules=replace(RULES, attempts=9))
    assert isinstance(decision, Postponed)
    assert decision.until == NOW + timedelta(minutes=1)


@pytest.mark.parametrize("state", [RunState.FAILED, RunState.EXPIRED, RunState.PUBLISHED])
def test_after_as_many_attempts_as_the_cap_says_it_is_reported(state):
    tries = (tried(gap(3), 1), tried(gap(3), 2, state))
    assert why(after(gap(3), *tries)) == (
        f"2 attempts did not mend it; the last one, bf-20250201-cases-1.0.0-002, is {state}: "
        "`backfill status bf-20250201-cases-1.0.0-002`"
    )


@pytest.mark.parametrize("state", [RunState.REJECTED, RunState.CANCELLED, RunState.ROLLED_BACK])
def test_what_somebody_has_ended_is_not_tried_again(state):
    decision = after(gap(3), tried(gap(3), 1, state))
    assert isinstance(decision, Reported)
    assert f"which is {state}" in decision.why


def test_a_gap_that_comes_back_begins_anew_and_uses_no_number_twice():
    before = replace(tried(gap(3), 1), planned_at=LONG_AGO - timedelta(days=9))
    decision = after(gap(3), before, replace(before, attempt=2))
    assert isinstance(decision, Repair)
    assert decision.attempt == 3


def test_attempts_on_other_days_of_a_gap_do_not_count():
    whole = gap(3, 9, kind=GapKind.UNEXPLAINED_COMMIT, fills=False)
    mended = PartitionSet.of_range(january(1, 2))
    tries = [tried(whole, number, RunState.PUBLISHED, days=mended) for number in (1, 2)]
    assert isinstance(after(whole, *tries), Repair)


def test_a_plan_that_nobody_began_in_time_was_an_attempt():
    stale = tried(gap(3), 2, RunState.PLANNED, valid_until=NOW)
    assert isinstance(after(gap(3), tried(gap(3), 1), stale), Reported)


def test_while_its_repair_is_under_way_it_waits():
    decision = after(
        gap(3),
        tried(gap(3), 1),
        tried(gap(3), 2, RunState.STAGING),
        in_flight={LOADED: (at_work(january(3)),)},
    )
    assert why(decision) == f"{OTHER_RUN} holds days of it and is STAGING"


def test_whoever_launched_a_run_that_failed_gets_time_to_look_at_it():
    failed = gap(3, kind=GapKind.RUN_ENDED, since=NOW - timedelta(minutes=5))
    decision = after(failed)
    assert isinstance(decision, Postponed)
    assert decision.until == NOW + timedelta(minutes=10)


def test_a_run_of_somebody_else_is_in_the_way_only_where_they_share_days():
    theirs = {LOADED: (at_work(january(10), requested_by="ana"),)}
    assert isinstance(after(gap(3), in_flight=theirs), Repair)
    assert isinstance(after(gap(10), in_flight=theirs), Postponed)


def test_one_repair_is_at_work_on_a_table():
    others = {LOADED: (at_work(january(10)),)}
    assert why(after(gap(3), in_flight=others)) == (
        f"{OTHER_RUN} repairs another part of bronze.cases"
    )


@pytest.mark.parametrize("state", [RunState.AWAITING_APPROVAL, RunState.AWAITING_PUBLISH])
def test_a_repair_that_waits_for_people_stands_in_no_others_way(state):
    others = {LOADED: (at_work(january(10), state),)}
    assert isinstance(after(gap(3), in_flight=others), Repair)


def test_of_two_gaps_of_a_table_the_older_one_is_repaired_first():
    first, second = decide(gap(9), gap(3))
    assert isinstance(first, Repair)
    assert (str(first.days), why(second)) == (
        "2025-01-03",
        "another part of bronze.cases is repaired first",
    )


def test_what_only_fills_is_repaired_before_what_replaces():
    few = gap(1, kind=GapKind.TOO_FEW_ROWS, fills=False, subject="few-2025-01-01")
    first, _ = decide(few, gap(9))
    assert first.gap == gap(9)


def test_a_table_waits_for_what_it_is_computed_from():
    first, second = decide(gap(5, table=SUMMED), gap(4))
    assert isinstance(first, Repair)
    assert (first.gap.table, why(second)) == (
        LOADED,
        "bronze.cases, which it is computed from, is repaired first",
    )


def test_a_table_does_not_wait_for_days_that_it_does_not_read():
    _, second = decide(gap(4), gap(20, table=SUMMED))
    assert isinstance(second, Repair)


def test_in_quiet_hours_nothing_is_planned():
    quiet = replace(RULES, quiet_hours=DailyWindow(start="11:00", end="06:00"))
    decision = after(gap(3), rules=quiet)
    assert isinstance(decision, Postponed)
    assert decision.until == datetime(2025, 2, 2, 6, tzinfo=UTC)


def test_a_gap_is_left_alone_for_a_while_after_it_was_first_seen():
    patient = replace(RULES, patience_minutes=30)
    seen = {gap(3).key: noted(gap(3), first_seen_at=NOW - timedelta(minutes=29))}
    decision = after(gap(3), rules=patient, noted=seen)
    assert isinstance(decision, Postponed)
    assert decision.until == NOW + timedelta(minutes=1)
    assert isinstance(after(gap(3), rules=patient), Repair)


def test_what_nobody_has_noted_yet_is_waited_for_from_now_on():
    decision = after(gap(3), rules=replace(RULES, patience_minutes=30), noted={})
    assert isinstance(decision, Postponed)
    assert decision.until == NOW + timedelta(minutes=30)


def test_a_day_is_left_to_its_own_run_for_a_while():
    decision = after(gap(31), rules=replace(RULES, settle_hours=13))
    assert isinstance(decision, Postponed)
    assert decision.until == datetime(2025, 2, 1, 13, tzinfo=UTC)


def test_days_that_are_left_to_their_own_run_keep_older_ones_from_nothing():
    decision = after(gap(30, 31), rules=replace(RULES, settle_hours=13))
    assert isinstance(decision, Repair)
    assert str(decision.days) == "2025-01-30"


def test_no_more_repairs_an_hour_are_planned_than_allowed():
    recent = tuple(NOW - timedelta(minutes=minutes) for minutes in (50, 40, 30, 20))
    decision = after(gap(3), planned_at=recent)
    assert isinstance(decision, Postponed)
    assert decision.until == NOW + timedelta(minutes=10)


def test_repairs_of_an_earlier_hour_do_not_count():
    assert isinstance(after(gap(3), planned_at=(NOW - timedelta(hours=1),) * 9), Repair)


def test_a_month_is_repaired_as_a_whole_and_not_before_it_has_ended():
    months = catalog(loaded(boundary=Boundary.MONTH, chunk_days=31))
    (done,) = decide_repairs((gap(30, 31),), RULES, months, history())
    assert isinstance(done, Repair)
    assert str(done.days) == "2025-01-01..2025-01-31"
    running = replace(history(), now=NOW - timedelta(days=2))
    (waits,) = decide_repairs((gap(28),), RULES, months, running)
    assert isinstance(waits, Postponed)
    assert waits.until == datetime(2025, 2, 1, tzinfo=UTC)


def test_a_refused_plan_is_not_tried_again_within_the_hour_unless_the_gap_changes():
    said = {"refused_at": NOW - timedelta(minutes=59), "reported_why": "refused: no disk"}
    same = {gap(3).key: noted(gap(3), **said)}
    other = {gap(3).key: noted(gap(3), **said, digest="0" * 64)}
    later = {gap(3).key: noted(gap(3), **{**said, "refused_at": NOW - timedelta(hours=1)})}
    assert why(after(gap(3), noted=same)) == "refused: no disk"
    assert isinstance(after(gap(3), noted=other), Repair)
    assert isinstance(after(gap(3), noted=later), Repair)


gaps_of_a_table = st.lists(st.integers(1, 31), unique=True, max_size=8)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Gap], RepairRules, RepairHistory]:
    tables = (LOADED, SUMMED)
    gaps = [gap(day, table=table) for table in tables for day in draw(gaps_of_a_table)]
    rules = replace(
        RULES,
        attempts=draw(st.integers(1, 3)),
        runs_per_hour=draw(st.integers(1, 3)),
        max_days_per_run=draw(st.integers(1, 5)),
    )
    states = st.sampled_from([RunState.FAILED, RunState.EXPIRED, RunState.PUBLISHED])
    tries = [
        tried(one, number, draw(states))
        for one in gaps
        for number in range(1, draw(st.integers(0, 4)) + 1)
    ]
    working = st.lists(st.builds(at_work, st.integers(1, 31).map(january)), max_size=1)
    recent = draw(st.lists(st.integers(1, 90), max_size=4))
    return (
        gaps,
        rules,
        history(
            *tries,
            gaps=tuple(gaps),
            in_flight={table: tuple(draw(working)) for table in tables},
            planned_at=tuple(NOW - timedelta(minutes=minutes) for minutes in recent),
        ),
    )


@given(worlds())
def test_no_round_exceeds_what_the_policy_allows(world):
    gaps, rules, known = world
    decisions = decide_repairs(gaps, rules, catalog(), known)
    repairs = [one for one in decisions if isinstance(one, Repair)]
    per_table = Counter(one.gap.table for one in repairs)
    per_table.update(table for table, runs in known.in_flight.items() for _ in runs)
    recent = [at for at in known.planned_at if at > NOW - timedelta(hours=1)]
    assert len(decisions) == len(gaps)
    assert max(per_table.values(), default=0) <= 1
    assert not repairs or len(recent) + len(repairs) <= rules.runs_per_hour
    assert all(len(one.days) <= rules.max_days_per_run for one in repairs)
    assert all(len(known.tried.get(one.gap.key, ())) < rules.attempts for one in repairs)


@given(st.lists(st.tuples(st.integers(0, 900), st.decimals(0, 9, places=2)), max_size=12))
def test_the_repairs_of_a_day_never_take_more_than_its_budget(asked):
    rules = replace(RULES, cost_usd_per_day=Decimal(10))
    taken = Taken()
    for rows, cost in asked:
        one = Taken(rows=rows, cost_usd=cost)
        if keep_budget(REPAIR, rules, today=taken, asked=one, now=NOW) is None:
            taken += one
    assert (taken.rows <= 1_000, taken.cost_usd <= 10) == (True, True)


REPAIR = Repair(gap=gap(3), days=PartitionSet.of_range(january(3)), attempt=1, replaces=None)


def test_what_fits_the_day_but_not_what_is_left_of_it_waits_for_midnight():
    kept = keep_budget(REPAIR, RULES, today=Taken(rows=600), asked=Taken(rows=500), now=NOW)
    assert isinstance(kept, Postponed)
    assert (kept.until, kept.why) == (
        datetime(2025, 2, 2, tzinfo=UTC),
        "with it, all of today would read 1,100 rows, and 1,000 a day are allowed",
    )


def test_what_fits_no_day_is_reported():
    kept = keep_budget(REPAIR, RULES, today=Taken(), asked=Taken(rows=1_001), now=NOW)
    assert isinstance(kept, Reported)
    assert kept.why == (
        "its repair would read 1,001 rows, and 1,000 a day are allowed; plan fewer days by hand"
    )


def test_a_budget_in_money_counts_as_well():
    rules = replace(RULES, rows_per_day=None, cost_usd_per_day=Decimal("0.50"))
    asked = Taken(rows=9, cost_usd=Decimal("0.51"))
    kept = keep_budget(REPAIR, rules, today=Taken(), asked=asked, now=NOW)
    assert isinstance(kept, Reported)
    assert "would cost 0.51 US dollars, and 0.50 a day are allowed" in kept.why
