"""What a policy must not say: it would leave a change without an answer, or nobody to give it.

A problem carries its place as a path in the policy's file, so that the reader can be shown a line.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from backfill_platform.governance.assignment import assign_roles
from backfill_platform.governance.conditions import ANYTHING
from backfill_platform.governance.policy import DEFAULT_RATE, Policy, Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    path: tuple[str | int, ...]
    message: str


def find_problems(policy: Policy) -> Iterator[Problem]:
    for index, rule in enumerate(policy.rules):
        yield from _rule_problems(policy, index, rule)
    yield from _order_problems(policy.rules)
    yield from _rate_problems(policy)
    yield from _review_problems(policy)
    for sentence in policy.limits.problems:
        yield Problem(path=("limits", sentence.split()[0]), message=sentence)


def _rule_problems(policy: Policy, index: int, rule: Rule) -> Iterator[Problem]:
    if rule.name in (earlier.name for earlier in policy.rules[:index]):
        yield Problem(path=("rules", index, "name"), message="another rule has this name")
    if not rule.conditions.can_be_met:
        yield Problem(
            path=("rules", index, "when", "partitions"),
            message="no whole number is over the one bound and under the other",
        )
    yield from (
        Problem(path=("rules", index, "ask", "roles"), message=sentence)
        for sentence in _role_problems(policy, rule)
    )


def _role_problems(policy: Policy, rule: Rule) -> Iterator[str]:
    if len(set(rule.roles)) < len(rule.roles):
        yield "a role is named twice; each is asked for once"
        return
    unheld = [role for role in rule.roles if not policy.holders(role)]
    if unheld:
        yield f"no principal that is not revoked has the role {unheld[0]!r}; add one, or correct it"
        return
    candidates = {role: policy.holders(role) for role in rule.roles}
    if len(assign_roles(rule.roles, candidates)) < len(rule.roles):
        asked = " and ".join(rule.roles)
        yield f"{asked} need a principal each, and there are too few different ones; add one"


def _order_problems(rules: tuple[Rule, ...]) -> Iterator[Problem]:
    for index, rule in enumerate(rules):
        deciding = next(
            (earlier for earlier in rules[:index] if earlier.conditions.cover(rule.conditions)),
            None,
        )
        if deciding is not None:
            yield Problem(
                path=("rules", index, "when"),
                message=f"is never reached: rule {deciding.name!r} above decides all of it; "
                "move it up, or remove it",
            )
    if rules[-1].conditions != ANYTHING:
        yield Problem(
            path=("rules", len(rules) - 1, "when"),
            message="the last rule has to match everything; end with a rule `when: otherwise`",
        )


def _rate_problems(policy: Policy) -> Iterator[Problem]:
    if DEFAULT_RATE not in policy.rates:
        yield Problem(path=("rates",), message=f"{DEFAULT_RATE!r} is missing, for other layers")
    for layer, rate in policy.rates.items():
        if rate.low > rate.high:
            yield Problem(path=("rates", layer), message=f"{rate.low} is more than {rate.high}")


def _review_problems(policy: Policy) -> Iterator[Problem]:
    """Whether a table's owner is a role is not known here: the tables are declared elsewhere."""
    asked = policy.reviews
    if not asked.by_owners and not asked.roles:
        yield Problem(
            path=("reviews",),
            message="nobody could review what a gate holds; say `owners: true`, or name roles",
        )
    unheld = [role for role in asked.roles if not policy.holders(role)]
    if unheld:
        yield Problem(
            path=("reviews", "roles"),
            message=f"no principal that is not revoked has the role {unheld[0]!r}; add one, or "
            "correct it",
        )
