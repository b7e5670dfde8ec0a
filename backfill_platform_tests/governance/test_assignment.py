"""As many roles as possible are filled, each by another principal."""

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from backfill_platform.governance.assignment import assign_roles

ROLES = ("a", "b", "c", "d")
PRINCIPALS = ("p", "q", "r", "s")

candidates_of_roles = st.fixed_dictionaries(
    {role: st.sets(st.sampled_from(PRINCIPALS)) for role in ROLES}
)


def most_by_trying_all(candidates: dict[str, set[str]]) -> int:
    return max(
        sum(principal in candidates[role] for role, principal in zip(ROLES, order, strict=True))
        for order in permutations(PRINCIPALS)
    )


@given(candidates_of_roles)
def test_as_many_roles_are_filled_as_trying_all_orders_fills(candidates):
    assert len(assign_roles(ROLES, candidates)) == most_by_trying_all(candidates)


@given(candidates_of_roles)
def test_each_role_gets_a_candidate_of_its_own(candidates):
    filled = assign_roles(ROLES, candidates)
    assert all(principal in candidates[role] for role, principal in filled.items())
    assert len(set(filled.values())) == len(filled)


def test_who_could_fill_both_makes_room_for_who_can_fill_one():
    filled = assign_roles(("lead", "manager"), {"lead": {"ada", "ben"}, "manager": {"ada"}})
    assert filled == {"lead": "ben", "manager": "ada"}
