"""Runs: registered once by origin, moved by guarded updates, with an event for every step."""

from datetime import datetime

import pytest

from backfill_platform.domain.errors import IllegalTransition, RunUnknown
from backfill_platform.domain.identity import GroupId, RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.modes import RunKind
from backfill_platform.domain.runs import LostRaceValue, Moved, NewRun
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import (
    NOW,
    TABLE,
    VERSION,
    after,
    move,
    new_run,
    register,
)


def test_a_run_enters_the_ledger_as_it_was_planned(ledger: Ledger) -> None:
    run = register(ledger)
    assert run.run_id == "bf-20260704-case_sla_daily-3.1.0-001"
    assert run.state is RunState.PLANNED
    assert (run.planned_at, run.updated_at) == (NOW, NOW)
    assert ledger.run(run.run_id) == run


def test_whoever_comes_with_a_known_origin_joins_its_run(ledger: Ledger) -> None:
    assert register(ledger, "cli:1") == register(ledger, "cli:1")
    assert len(ledger.runs()) == 1
    assert len(ledger.events(register(ledger, "cli:1").run_id)) == 1


def test_another_origin_gets_the_next_number(ledger: Ledger) -> None:
    register(ledger, "cli:1")
    assert register(ledger, "cli:2").run_id.endswith("-002")


def test_tables_of_the_same_short_name_do_not_share_run_ids(ledger: Ledger) -> None:
    register(ledger)
    assert ledger.next_number("gold.case_sla_daily", VERSION, NOW.date()) == 2


def test_an_underscore_in_a_name_is_no_wildcard(ledger: Ledger) -> None:
    register(ledger)
    assert ledger.next_number("silver.case-sla-daily", VERSION, NOW.date()) == 1


def test_a_run_is_made_again_when_another_takes_its_number_meanwhile(ledger: Ledger) -> None:
    numbers: list[int] = []

    def make(number: int) -> NewRun:
        if not numbers:
            register(ledger, "faster")
        numbers.append(number)
        return new_run("slower")(number)

    run = ledger.register_run(
        make, table=TABLE, transform_version=VERSION, planned_on=NOW.date(), now=NOW
    )
    assert numbers == [1, 2]
    assert run.run_id.endswith("-002")


def test_runs_are_listed_by_table_and_the_newest_first(ledger: Ledger) -> None:
    ids = [register(ledger, origin).run_id for origin in ("a", "b", "c")]
    assert [run.run_id for run in ledger.runs(TABLE, limit=2)] == [ids[2], ids[1]]
    assert ledger.runs("gold.other") == ()


def test_runs_are_chosen_by_state_kind_and_group(ledger: Ledger) -> None:
    planned, approved = (register(ledger, origin) for origin in ("a", "b"))
    move(ledger, approved.run_id, RunState.PLANNED, RunState.APPROVED)
    assert ledger.runs(states=[RunState.PLANNED]) == (planned,)
    assert len(ledger.runs(states=[RunState.PLANNED, RunState.APPROVED])) == 2
    assert ledger.runs(states=[]) == ()
    assert len(ledger.runs(kind=RunKind.RESTATEMENT, group=GroupId("group"))) == 2
    assert ledger.runs(kind=RunKind.REPAIR) == ()
    assert ledger.runs(group=GroupId("another")) == ()


def test_an_unknown_run_is_named(ledger: Ledger) -> None:
    with pytest.raises(RunUnknown, match="bf-none"):
        ledger.run(RunId("bf-none"))
    assert ledger.run_by_origin("nobody") is None


def test_a_move_changes_the_state_and_leaves_an_event(ledger: Ledger) -> None:
    run = register(ledger)
    moved = ledger.move(
        run.run_id,
        RunState.PLANNED,
        RunState.APPROVED,
        actor="bo",
        cause="reviewed",
        details={"ticket": "OPS-1"},
        now=after(5),
    )
    assert isinstance(moved, Moved)
    assert (moved.run.state, moved.run.updated_at) == (RunState.APPROVED, after(5))
    planned, approved = ledger.events(run.run_id)
    assert (planned.from_state, planned.to_state, planned.actor) == (None, RunState.PLANNED, "ana")
    assert (approved.seq, approved.actor, approved.at, approved.cause) == (
        2,
        "bo",
        after(5),
        "reviewed",
    )
    assert approved.details == {"ticket": "OPS-1"}


def test_the_loser_of_a_race_is_told_where_the_run_stands(ledger: Ledger) -> None:
    run = register(ledger)
    move(ledger, run.run_id, RunState.PLANNED, RunState.APPROVED)
    lost = ledger.move(
        run.run_id,
        RunState.PLANNED,
        RunState.CANCELLED,
        actor="late",
        cause="too late",
        details={},
        now=NOW,
    )
    assert isinstance(lost, LostRaceValue)
    assert lost.run == ledger.run(run.run_id)
    assert lost.run.state is RunState.APPROVED
    assert len(ledger.events(run.run_id)) == 2


def test_an_illegal_move_is_refused_and_says_what_may_follow(ledger: Ledger) -> None:
    run = register(ledger)
    with pytest.raises(IllegalTransition, match="APPROVED, AWAITING_APPROVAL"):
        move(ledger, run.run_id, RunState.PLANNED, RunState.PUBLISHED)
    assert ledger.run(run.run_id) == run


def test_a_move_whose_event_cannot_be_written_is_undone(ledger: Ledger) -> None:
    run = register(ledger)
    with pytest.raises(Exception, match="has no canonical text"):
        ledger.move(
            run.run_id,
            RunState.PLANNED,
            RunState.APPROVED,
            actor="bo",
            cause="c",
            details={"cost": 1.5},
            now=NOW,
        )
    assert ledger.run(run.run_id) == run


def test_an_instant_without_zone_is_refused(ledger: Ledger) -> None:
    run = register(ledger)
    with pytest.raises(ValueError, match="no time zone"):
        ledger.move(
            run.run_id,
            RunState.PLANNED,
            RunState.APPROVED,
            actor="bo",
            cause="c",
            details={},
            now=datetime(2026, 7, 4),  # noqa: DTZ001
        )
