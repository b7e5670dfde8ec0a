"""Where a partition is written once, what holds something is refused, with the way on."""

from dataclasses import replace

import pytest

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.modes import ExecutionMode, PublishMode, PublishScope, RunKind
from backfill_platform.domain.partitions import Boundary
from backfill_platform_tests.planner.worlds import (
    INTENT,
    OTHER_RUN,
    days,
    make_world,
    plan,
    reasons,
    with_target,
)

ONCE = make_world(publish_mode=PublishMode.APPEND_ONLY)
BACKFILL = replace(INTENT, kind=RunKind.BACKFILL, days=days("2025-03-01", "2025-03-04"))
SECOND, THIRD = days("2025-03-02").span.start, days("2025-03-03").span.start
EMPTY = with_target(fingerprints={})
ACCEPTED = with_target(fingerprints={SECOND: "f2"}, accepted_by={SECOND: OTHER_RUN})


def test_days_that_hold_nothing_are_planned_on_empty_partitions():
    target = plan(BACKFILL, catalog=ONCE, facts=EMPTY).target
    assert (target.publish_mode, target.base) == (PublishMode.APPEND_ONLY, {})


def test_what_holds_something_is_refused_with_both_ways_on():
    assert reasons(BACKFILL, catalog=ONCE, facts=ACCEPTED) == (
        "silver.cases is published by APPEND_ONLY, and 2025-03-02 holds something already. Leave "
        "out what is there: `backfill plan silver.cases --days "
        '"2025-03-01, 2025-03-03..2025-03-04"`. Take back what '
        f'{OTHER_RUN} was accepted for: `backfill rollback {OTHER_RUN} --days "2025-03-02"`'
    )


def test_every_run_that_was_accepted_is_named_with_its_days():
    other = RunId("bf-20260704-cases-1.10.0-003")
    facts = with_target(
        fingerprints={SECOND: "f2", THIRD: "f3"}, accepted_by={SECOND: OTHER_RUN, THIRD: other}
    )
    said = reasons(BACKFILL, catalog=ONCE, facts=facts)
    assert f'`backfill rollback {OTHER_RUN} --days "2025-03-02"`' in said
    assert f'`backfill rollback {other} --days "2025-03-03"`' in said


def test_what_no_run_was_accepted_for_is_to_be_looked_at():
    said = reasons(BACKFILL, catalog=ONCE, facts=with_target(fingerprints={SECOND: "f2"}))
    assert "No run was accepted for 2025-03-02" in said
    assert "`backfill history silver.cases --day 2025-03-02`" in said
    assert "backfill rollback" not in said


def test_where_every_day_holds_something_there_is_nothing_left_to_plan():
    one = replace(BACKFILL, days=days("2025-03-02"))
    assert "backfill plan" not in reasons(one, catalog=ONCE, facts=ACCEPTED)


def test_what_is_left_to_plan_cuts_no_month():
    monthly = make_world(publish_mode=PublishMode.APPEND_ONLY, boundary=Boundary.MONTH)
    two = replace(BACKFILL, days=days("2025-03-01", "2025-04-30"))
    said = reasons(two, catalog=monthly, facts=ACCEPTED)
    assert '--days "2025-04-01..2025-04-30"`' in said


@pytest.mark.parametrize(
    "looking",
    [
        {"mode": ExecutionMode.DRY_RUN},
        {"mode": ExecutionMode.RECONCILIATION},
        {"publish_scope": PublishScope.DARK},
    ],
)
def test_a_run_that_never_publishes_may_look_at_what_is_there(looking):
    intent = replace(BACKFILL, **looking)
    assert plan(intent, catalog=ONCE, facts=ACCEPTED).target.base == {SECOND: "f2"}


def test_nothing_is_restated_where_nothing_is_superseded():
    restated = replace(BACKFILL, kind=RunKind.RESTATEMENT)
    said = reasons(restated, catalog=ONCE, facts=EMPTY)
    assert "a RESTATEMENT cannot be; take back what is wrong with `backfill rollback RUN`" in said


def test_other_ways_of_publishing_replace_what_is_there():
    assert plan(BACKFILL, facts=ACCEPTED).target.base == {SECOND: "f2"}
