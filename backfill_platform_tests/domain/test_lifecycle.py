"""The one table of states."""

from backfill_platform.domain.lifecycle import TERMINAL_STATES, TRANSITIONS, RunState, may_follow


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
