"""Whether those who were asked have agreed to exactly this manifest, and still do.

Invariant: a consent counts only for the digest it names, from a principal who holds the role, is
not the requester and fills no other role (test_what_counts_is_always_a_proper_consent). The same
judgement is made when a consent is given, when the run starts and when it is published: in between
it may expire, its principal may be revoked and so may its key.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from backfill_platform.domain.approvals import Approval, Decision, Requirement
from backfill_platform.domain.errors import ApprovalRefused
from backfill_platform.governance.assignment import assign_roles
from backfill_platform.governance.persons import wrong_person
from backfill_platform.governance.policy import Policy

Verify = Callable[[Approval], str]  # raises ApprovalRefused; see `signatures.verifier`

CLOCK_TOLERANCE = timedelta(minutes=5)  # between the machine that signs and the one that judges


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    missing: tuple[str, ...]  # roles that nobody fills yet
    counted: tuple[Approval, ...]  # one for each role that is filled
    ignored: tuple[tuple[Approval, str], ...]  # and why


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    manifest_digest: str
    requirement: Requirement
    requested_by: str
    policy: Policy
    verify: Verify
    now: datetime


def check_approval(
    approval: Approval,
    *,
    manifest_digest: str,
    requirement: Requirement,
    requested_by: str,
    policy: Policy,
    existing: tuple[Approval, ...],
    verify: Verify,
    now: datetime,
) -> None:
    """Refuses a decision that would not count, or that adds nothing, with the reason."""
    case = _Case(
        manifest_digest=manifest_digest,
        requirement=requirement,
        requested_by=requested_by,
        policy=policy,
        verify=verify,
        now=now,
    )
    objection = _objection(approval, case) or _repetition(approval, existing, case)
    if objection is not None:
        raise ApprovalRefused(objection)


def judge_consent(
    requirement: Requirement,
    approvals: tuple[Approval, ...],
    *,
    manifest_digest: str,
    requested_by: str,
    policy: Policy,
    verify: Verify,
    now: datetime,
) -> Consent:
    case = _Case(
        manifest_digest=manifest_digest,
        requirement=requirement,
        requested_by=requested_by,
        policy=policy,
        verify=verify,
        now=now,
    )
    objections = tuple((one, _objection(one, case)) for one in approvals)
    ignored = tuple((one, why) for one, why in objections if why is not None)
    standing = tuple(one for one, why in objections if why is None)
    rejection = next((one for one in standing if one.decision is Decision.REJECTED), None)
    if rejection is not None:
        why = f"{rejection.principal!r} rejected the run: {rejection.reason}"
        ignored += tuple((one, why) for one in standing)
        return Consent(missing=requirement.roles, counted=(), ignored=ignored)
    return _count(requirement, standing, ignored)


def choose_role(
    principal: str, requirement: Requirement, policy: Policy, existing: tuple[Approval, ...]
) -> str:
    """The role in which the principal helps most: others can still fill what then remains."""
    own = [role for role in requirement.roles if policy.holds(principal, role)]
    if not own:
        asked = " and ".join(requirement.roles) or "nobody"
        raise ApprovalRefused(
            f"Rule {requirement.rule!r} asks for {asked}, and {principal!r} has no such role"
        )
    filled = {one.role: one.principal for one in existing if one.decision is Decision.APPROVED}

    def usefulness(role: str) -> tuple[bool, int]:
        others = {
            other: {filled[other]} if other in filled else {*policy.holders(other)} - {principal}
            for other in requirement.roles
            if other != role
        }
        return role not in filled, len(assign_roles(tuple(others), others))

    return max(own, key=usefulness)


def _count(
    requirement: Requirement,
    standing: tuple[Approval, ...],
    ignored: tuple[tuple[Approval, str], ...],
) -> Consent:
    candidates = {
        role: {one.principal for one in standing if one.role == role} for role in requirement.roles
    }
    filled = assign_roles(requirement.roles, candidates)
    counted = tuple(
        next(one for one in standing if (one.role, one.principal) == (role, filled[role]))
        for role in requirement.roles
        if role in filled
    )
    spare = tuple(
        (one, f"is not needed: {one.role!r} is filled, or {one.principal!r} fills another role")
        for one in standing
        if one not in counted
    )
    return Consent(
        missing=tuple(role for role in requirement.roles if role not in filled),
        counted=counted,
        ignored=ignored + spare,
    )


def _objection(one: Approval, case: _Case) -> str | None:
    return (
        _wrong_manifest(one, case)
        or _wrong_person(one, case)
        or _wrong_role(one, case)
        or _wrong_time(one, case)
        or _wrong_signature(one, case)
    )


def _wrong_manifest(one: Approval, case: _Case) -> str | None:
    if one.manifest_digest != case.manifest_digest:
        return (
            f"It is about manifest {one.manifest_digest[:16]} and the run's is "
            f"{case.manifest_digest[:16]}; read the plan as it is now and decide again"
        )
    if one.decision is Decision.REJECTED and not one.reason.strip():
        return "A rejection needs a reason: whoever asked has to know what to change"
    return None


def _wrong_person(one: Approval, case: _Case) -> str | None:
    return wrong_person(one.principal, requested_by=case.requested_by, policy=case.policy)


def _wrong_role(one: Approval, case: _Case) -> str | None:
    rule, asked = case.requirement.rule, case.requirement.roles
    if one.role not in asked:
        return (
            f"Nobody asked for the role {one.role!r}; rule {rule!r} asks for "
            f"{' and '.join(asked) or 'nobody'}"
        )
    if not case.policy.holds(one.principal, one.role):
        holders = ", ".join(case.policy.holders(one.role)) or "nobody"
        return f"{one.principal!r} does not have the role {one.role!r}; it is held by {holders}"
    return None


def _wrong_time(one: Approval, case: _Case) -> str | None:
    if one.decided_at > case.now + CLOCK_TOLERANCE:
        return f"It says it was decided in the future, at {one.decided_at}; set that clock right"
    if one.decision is Decision.REJECTED:
        return None
    hours = case.requirement.valid_hours
    if one.expires_at > one.decided_at + timedelta(hours=hours):
        return f"It claims to hold longer than the {hours} hours of the policy; draft it again"
    if one.expires_at <= case.now:
        return f"It expired at {one.expires_at}; decide again"
    return None


def _wrong_signature(one: Approval, case: _Case) -> str | None:
    """Saying no must be easy; but a signature that is given has to be right."""
    if one.signature is None:
        is_asked = case.requirement.signed and one.decision is Decision.APPROVED
        rule = case.requirement.rule
        return f"Rule {rule!r} asks for a signed approval; sign it with --key" if is_asked else None
    try:
        case.verify(one)
    except ApprovalRefused as refused:
        return str(refused)
    return None


def _repetition(new: Approval, existing: tuple[Approval, ...], case: _Case) -> str | None:
    for one in existing:
        if _objection(one, case) is not None:
            continue
        if one.decision is Decision.REJECTED:
            return f"{one.principal!r} rejected the run: {one.reason}; plan it anew"
        if new.decision is Decision.APPROVED and one.principal == new.principal:
            return _again(new, one)
    return None


def _again(new: Approval, one: Approval) -> str:
    if one.role == new.role:
        return f"{one.principal!r} has agreed as {one.role!r} already, until {one.expires_at}"
    return (
        f"{one.principal!r} has agreed as {one.role!r} and cannot be {new.role!r} as well; "
        "each role needs a principal of its own"
    )
