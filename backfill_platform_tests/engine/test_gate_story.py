"""What an owner is told of a verdict: from the ledger and the catalog alone, without Spark."""

from collections.abc import Callable
from datetime import date

import pytest

from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.verdicts import Gate, GateSeverity, Outcome
from backfill_platform.engine.look.gate_story import (
    GateStory,
    Standing,
    Trouble,
    read_gate_stories,
    united,
)
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform_tests.orchestration.judged import Strays, stage_judged
from backfill_platform_tests.readings import BRONZE, SILVER, START, week

DAYS = week(days=3)
KEY, ROWS = Gate.KEY_UNIQUE, Gate.ROWS_PRESENT
FAILS = {(START, KEY): Outcome.FAILED}
WARNS = {(START, KEY): Outcome.WARNED}

Judge = Callable[..., Manifest]


@pytest.fixture
def judge(platform: Platform, intent) -> Judge:
    """A run that was judged so; what nobody refuses is published where nothing else is said."""

    def judge(
        origin: str, strays: Strays, *, days: DayRange = DAYS, rows: int = 1, publish: bool = False
    ) -> Manifest:
        manifest = plan_run(platform, intent(BRONZE, days, origin))
        stage_judged(platform, manifest, strays, rows=rows)
        if publish:
            publish_chunk(platform, manifest.run_id, days)
        return manifest

    return judge


def story(platform: Platform, manifest: Manifest, gate: Gate = KEY, day: date = START) -> GateStory:
    stories = read_gate_stories(platform, manifest, [day])
    return next(one for one in stories if one.verdict.gate is gate)


def trouble(platform: Platform, manifest: Manifest, gate: Gate = KEY) -> Trouble:
    found = story(platform, manifest, gate).trouble
    assert found is not None
    return found


def test_what_passed_is_told_without_any_trouble(platform, judge):
    told = story(platform, judge("one", {}))
    assert (told.trouble, told.standing, told.owner) == (None, Standing.OPEN, "meters")


def test_a_gate_fails_since_the_first_of_an_unbroken_series_of_runs(platform, judge):
    judge("good", {}, publish=True)
    first = judge("bad", FAILS)
    judge("worse", FAILS)
    since = trouble(platform, judge("still", WARNS)).since
    assert (since.run_id, since.runs) == (first.run_id, 3)


def test_a_run_in_which_it_passed_ends_the_series(platform, judge):
    judge("bad", FAILS)
    good = judge("good", {}, publish=True)
    again = judge("bad again", FAILS)
    since = trouble(platform, again).since
    assert (since.run_id, since.runs, since.passed_before) == (again.run_id, 1, good.run_id)


def test_runs_that_were_judged_later_are_no_part_of_an_older_story(platform, judge):
    first = judge("bad", FAILS)
    judge("still bad", FAILS)
    assert trouble(platform, first).since.runs == 1


def test_a_failed_day_blocks_what_would_be_published_with_it_and_what_reads_it(platform, judge):
    blocked = trouble(platform, judge("bad", FAILS)).blocked
    assert blocked.days == PartitionSet.of_range(DAYS)
    (below,) = blocked.downstream
    reached = DAYS.widen(after_days=1)  # the first day of all has none before it
    assert (below.table, below.days) == (SILVER, PartitionSet.of_range(reached))


def test_a_warning_blocks_nothing(platform, judge):
    assert trouble(platform, judge("odd", WARNS)).blocked.days is None


@pytest.mark.parametrize(
    ("outcome", "command"), [(Outcome.FAILED, "retry"), (Outcome.HELD, "review")]
)
def test_what_to_type_now_follows_from_the_outcome(platform, judge, outcome, command):
    manifest = judge("bad", {(START, KEY): outcome})
    assert f"backfill {command} {manifest.run_id}" in trouble(platform, manifest).commands


def test_the_last_accepted_runs_of_the_day_are_shown_with_the_gates_figure(platform, judge):
    first = judge("first", {}, publish=True)
    second = judge("second", {}, rows=2, publish=True)
    judge("never accepted", FAILS)
    now = judge("now", FAILS, rows=4)
    history = trouble(platform, now).history
    assert history.names == ("rows that repeat a key",)
    shown = [(line.run_id, line.rows, line.figures) for line in history.of_runs]
    assert shown == [(now.run_id, 4, (3,)), (second.run_id, 2, (1,)), (first.run_id, 1, (0,))]


def test_no_more_than_five_accepted_runs_are_shown(platform, judge):
    for number in range(7):
        judge(f"run {number}", {}, publish=True, rows=number + 1)
    assert len(trouble(platform, judge("now", FAILS)).history.of_runs) == 6


def test_the_days_before_are_those_of_the_run_and_else_those_that_are_accepted(platform, judge):
    accepted = judge("accepted", {}, days=week(), publish=True)
    now = judge("now", {(DAYS.last, KEY): Outcome.FAILED}, days=DayRange(START, DAYS.end_exclusive))
    last = judge("last", {(week().last, KEY): Outcome.FAILED}, days=DayRange.of_day(week().last))
    found = story(platform, now, day=DAYS.last).trouble
    assert found is not None
    assert {line.run_id for line in found.history.of_days} == {now.run_id}
    found = story(platform, last, day=week().last).trouble
    assert found is not None
    assert [line.run_id for line in found.history.of_days] == [last.run_id, *[accepted.run_id] * 6]


def test_what_was_published_in_spite_of_a_warning_says_so(platform, judge):
    told = story(platform, judge("odd", WARNS, publish=True))
    assert told.standing is Standing.PUBLISHED


def test_a_run_that_is_judged_otherwise_says_so(platform, intent):
    milder = intent(BRONZE, DAYS, "milder", severities={ROWS: GateSeverity.WARN})
    manifest = plan_run(platform, milder)
    stage_judged(platform, manifest, {(START, ROWS): Outcome.WARNED})
    told = story(platform, manifest, ROWS)
    assert told.severity is GateSeverity.WARN
    assert told.override == "gate rows_present is WARN, and BLOCK by its table"


def test_several_days_are_told_with_the_oldest_series_and_all_that_is_blocked(platform, judge):
    first = judge("bad", FAILS)
    both = judge("worse", {**FAILS, (DAYS.last, KEY): Outcome.FAILED})
    stories = read_gate_stories(platform, both, DAYS)
    whole = united([one for one in stories if one.trouble])
    assert whole.since.run_id == first.run_id
    assert whole.blocked.days == PartitionSet.of_range(DAYS)


def test_however_many_days_fail_the_ledger_is_asked_as_often(platform, judge, monkeypatch):
    few = judge("few", FAILS)
    many = judge("many", dict.fromkeys(((day, KEY) for day in DAYS), Outcome.FAILED))
    asked: list[int] = []
    read = platform.ledger._read
    monkeypatch.setattr(platform.ledger, "_read", lambda: asked.append(1) or read())
    read_gate_stories(platform, few, DAYS)
    once = len(asked)
    read_gate_stories(platform, many, DAYS)
    assert len(asked) == 2 * once
