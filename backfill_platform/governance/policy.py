"""The policy as a value, and the one answer that it gives for a change.

Rules are read from the top and the first that matches decides, so a reviewer finds the answer as
the platform does. How the file is read and what is refused in it stands in `policy_file` and
`policy_check`; whether those who were asked have agreed is decided in `consent`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from backfill_platform.domain.approvals import ConsentPoint, ProposedChange, Requirement
from backfill_platform.domain.canonical import canonical_json
from backfill_platform.domain.estimates import CostRate
from backfill_platform.domain.limits import Limits
from backfill_platform.domain.plain import to_plain
from backfill_platform.domain.repairs import RepairRules
from backfill_platform.domain.retirements import Retention
from backfill_platform.governance.conditions import Conditions

DEFAULT_RATE = "default"  # for layers that have no rate of their own


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A function or a person, by the name under which it requests, approves and signs."""

    roles: tuple[str, ...]
    revoked: bool = False  # its consent no longer counts, from this moment on


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    name: str
    conditions: Conditions
    roles: tuple[str, ...]  # nobody has to agree when there is none
    before: ConsentPoint
    signed: bool
    valid_hours: int
    notify: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRule:
    """Who looks at what a gate holds; any one of them, but the requester."""

    by_owners: bool = True  # whoever has the role that is named like the table's owner
    roles: tuple[str, ...] = ()  # and these
    signed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    principals: Mapping[str, Principal]
    rules: tuple[Rule, ...]  # the last one matches everything
    rates: Mapping[str, CostRate]  # by layer, and `DEFAULT_RATE`
    limits: Limits
    plan_valid_hours: int
    retention: Retention | None = None  # nothing is ever retired where nothing is said
    reviews: ReviewRule = ReviewRule()
    repairs: RepairRules | None = None  # nothing is repaired unattended where nothing is said

    @property
    def digest(self) -> str:
        """Of what the policy says, whatever its file looks like."""
        return hashlib.sha256(canonical_json(to_plain(self)).encode()).hexdigest()

    def holds(self, principal: str, role: str) -> bool:
        known = self.principals.get(principal)
        return known is not None and not known.revoked and role in known.roles

    def holders(self, role: str) -> tuple[str, ...]:
        return tuple(name for name in sorted(self.principals) if self.holds(name, role))


def require_approvals(policy: Policy, change: ProposedChange) -> Requirement:
    rule = next(rule for rule in policy.rules if rule.conditions.are_met_by(change))
    return Requirement(
        rule=rule.name,
        roles=rule.roles,
        before=rule.before,
        signed=rule.signed,
        valid_hours=rule.valid_hours,
        notify=rule.notify,
    )
