"""Whose word counts at all: a known principal, not revoked, and never whoever asked for the run."""

from backfill_platform.governance.policy import Policy


def wrong_person(principal: str, *, requested_by: str, policy: Policy) -> str | None:
    # Spelling must not make two people of one.
    if principal.strip().casefold() == requested_by.strip().casefold():
        return f"{principal!r} requested the run, and nobody decides on their own request"
    known = policy.principals.get(principal)
    if known is None:
        names = ", ".join(sorted(policy.principals)) or "nobody"
        return f"{principal!r} is not a principal of the policy; it knows {names}"
    if known.revoked:
        return f"{principal!r} is revoked in the policy; ask somebody else who has the role"
    return None
