"""How much of a run becomes visible at once, and what a swap of the whole table may not lose."""

from dataclasses import replace
from datetime import date

import pytest

from backfill_platform.domain.findings import Check, Severity
from backfill_platform.domain.modes import ExecutionMode, PublishMode, PublishScope
from backfill_platform_tests.planner.worlds import (
    FACTS,
    INTENT,
    another_run,
    finding,
    make_world,
    plan,
    reasons,
    with_target,
)

WHOLE_TABLE = make_world(publish_scope=PublishScope.WHOLE_RUN)
SWAPPED = make_world(publish_mode=PublishMode.SHADOW_SWAP)
LOST = with_target(other_days=(date(2025, 5, 1), date(2025, 5, 2)))
DARK = replace(INTENT, publish_scope=PublishScope.DARK)


def test_a_run_becomes_visible_as_its_table_declares():
    assert plan(catalog=WHOLE_TABLE).target.publish_scope is PublishScope.WHOLE_RUN


def test_a_run_may_say_otherwise_than_its_table():
    intent = replace(INTENT, publish_scope=PublishScope.PROGRESSIVE)
    assert plan(intent, catalog=WHOLE_TABLE).target.publish_scope is PublishScope.PROGRESSIVE


def test_what_is_to_be_compared_first_is_published_by_hand():
    intent = replace(INTENT, publish_scope=PublishScope.DUAL_READ)
    assert plan(intent).safety.requires_manual_publish


def test_a_table_that_is_swapped_becomes_visible_as_a_whole():
    assert plan(catalog=SWAPPED).target.publish_scope is PublishScope.WHOLE_RUN


def test_a_swap_cannot_become_visible_chunk_by_chunk():
    intent = replace(INTENT, publish_scope=PublishScope.PROGRESSIVE)
    assert "use `--publish-scope whole-run` or `dual-read`" in reasons(intent, catalog=SWAPPED)


def test_a_swap_that_would_lose_days_is_refused_with_the_days_to_ask_for():
    said = reasons(facts=LOST, catalog=SWAPPED)
    assert "2025-05-01..2025-05-02, which it holds and would lose" in said
    assert '`--days "2025-03-01..2025-03-31, 2025-05-01..2025-05-02"`' in said


@pytest.mark.parametrize(
    "intent", [DARK, replace(INTENT, mode=ExecutionMode.DRY_RUN)], ids=["dark", "dry run"]
)
def test_what_is_never_published_loses_no_day(intent):
    assert plan(intent, facts=LOST, catalog=SWAPPED).target.partitions == INTENT.days


def test_a_candidate_is_planned_beside_a_run_that_may_publish_the_same_days():
    facts = replace(FACTS, in_flight=(another_run(INTENT.days),))
    found = finding(Check.NO_RUN_IN_FLIGHT, DARK, facts=facts)
    assert found.severity is Severity.WARN
    assert "this run publishes nothing" in found.message
