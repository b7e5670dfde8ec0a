"""The one table of states."""

import pytest

from backfill_platform.domain.lifecycle import (
    IN_FLIGHT,
    NOT_BEGUN,
    OPEN_TO_DECISIONS,
    STOPPED,
    TERMINAL_STATES,
    TRANSITIONS,
    RunState,
    may_follow,
)


def test_every_state_stands_in_the_one_table():
    assert set(TRANSITIONS) == set(RunState)


def test_terminal_states_are_those_that_nothing_follows():
    assert {
        RunState.SUPERSEDED,
        RunState.ROLLED_BACK,
        RunState.REJECTED,
        RunState.CANCELLED,
        RunState.EXPIRED,
    } == TERMINAL_STATES


def test_nothing_is_published_before_it_is_validated():
    before = {state for state in RunState if may_follow(state, RunState.PUBLISHING)}
    assert before == {RunState.VALIDATED, RunState.AWAITING_PUBLISH}


def test_every_state_can_be_reached_from_planned():
    reached = {RunState.PLANNED}
    while following := {new for state in reached for new in TRANSITIONS[state]} - reached:
        reached |= following
    assert reached == set(RunState)


@pytest.mark.parametrize("state", sorted(OPEN_TO_DECISIONS))
def test_an_approver_may_say_no_at_any_time_before_publication(state: RunState):
    assert may_follow(state, RunState.REJECTED)


def test_a_run_that_is_being_published_is_not_stopped():
    assert not TRANSITIONS[RunState.PUBLISHING] & STOPPED


def test_what_may_still_publish_is_in_flight():
    may_publish = {RunState.PUBLISHING}
    while before := {state for state in RunState if TRANSITIONS[state] & may_publish} - may_publish:
        may_publish |= before
    assert may_publish - {RunState.FAILED} == IN_FLIGHT


def test_a_stopped_run_stays_stopped():
    assert STOPPED < TERMINAL_STATES
    assert not STOPPED & IN_FLIGHT


def test_a_plan_expires_only_before_it_has_begun():
    assert {state for state in IN_FLIGHT if may_follow(state, RunState.STAGING)} < NOT_BEGUN
    assert NOT_BEGUN < IN_FLIGHT
