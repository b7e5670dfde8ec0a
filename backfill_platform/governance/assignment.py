"""Gives each role a principal of its own, for as many roles as can be filled at once."""

from collections.abc import Collection, Mapping, Sequence


def assign_roles(roles: Sequence[str], candidates: Mapping[str, Collection[str]]) -> dict[str, str]:
    """The principal of each role that could be filled; `candidates` names those who may fill it.

    Whoever already has a role makes room where somebody else can take it over, so that two roles
    are never left to one principal while a second could serve.
    """
    role_of: dict[str, str] = {}
    for role in roles:
        _fill(role, candidates, role_of, tried=set())
    return {role: principal for principal, role in role_of.items()}


def _fill(
    role: str, candidates: Mapping[str, Collection[str]], role_of: dict[str, str], tried: set[str]
) -> bool:
    for principal in sorted(set(candidates[role]) - tried):
        tried.add(principal)
        held = role_of.get(principal)
        if held is None or _fill(held, candidates, role_of, tried):
            role_of[principal] = role
            return True
    return False
