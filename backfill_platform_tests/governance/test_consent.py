"""Only a proper consent counts: when it is given, when the run starts and when it is published."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backfill_platform.domain.approvals import Approval, Decision
from backfill_platform.domain.errors import ApprovalRefused
from backfill_platform.governance.consent import (
    Consent,
    check_approval,
    choose_role,
    judge_consent,
)
from backfill_platform.governance.policy import Policy
from backfill_platform_tests.governance.samples import (
    DIGEST,
    NOW,
    POLICY,
    REQUIREMENT,
    YES,
    policy_with,
    say,
    verify,
)

NO = replace(YES, decision=Decision.REJECTED, reason="wrong calendar", signature=None)


def terms(**differing: Any) -> dict[str, Any]:
    return {
        "manifest_digest": DIGEST,
        "requested_by": "zoe",
        "policy": POLICY,
        "verify": verify,
        "now": NOW,
    } | differing


def judge(*approvals: Approval, **differing: Any) -> Consent:
    return judge_consent(differing.pop("requirement", REQUIREMENT), approvals, **terms(**differing))


def check(approval: Approval, *existing: Approval, **differing: Any) -> None:
    requirement = differing.pop("requirement", REQUIREMENT)
    check_approval(approval, requirement=requirement, existing=existing, **terms(**differing))


def refusal(approval: Approval, *existing: Approval, **differing: Any) -> str:
    with pytest.raises(ApprovalRefused) as refused:
        check(approval, *existing, **differing)
    return str(refused.value)


IMPROPER = {
    "stale digest": (
        say("ben", "lead", manifest_digest="0" * 64),
        {},
        "It is about manifest 0000000000000000 and the run's is 8d91ab7c8d91ab7c; read the plan as "
        "it is now and decide again",
    ),
    "by the requester": (
        YES,
        {"requested_by": "ben"},
        "'ben' requested the run, and nobody decides on their own request",
    ),
    "by the requester in another spelling": (
        YES,
        {"requested_by": " Ben"},
        "'ben' requested the run, and nobody decides on their own request",
    ),
    "unknown principal": (
        say("eve", "lead"),
        {},
        "'eve' is not a principal of the policy; it knows ada, ben, cleo, dan",
    ),
    "revoked principal": (
        say("dan", "lead"),
        {},
        "'dan' is revoked in the policy; ask somebody else who has the role",
    ),
    "role that is not theirs": (
        say("cleo", "lead"),
        {},
        "'cleo' does not have the role 'lead'; it is held by ada, ben",
    ),
    "role that nobody asked for": (
        say("ben", "king"),
        {},
        "Nobody asked for the role 'king'; rule 'all' asks for manager and lead",
    ),
    "expired": (
        YES,
        {"now": YES.expires_at},
        "It expired at 2026-07-05 12:00:00+00:00; decide again",
    ),
    "too long": (
        say("ben", "lead", expires_at=NOW + timedelta(hours=25)),
        {},
        "It claims to hold longer than the 24 hours of the policy; draft it again",
    ),
    "from the future": (
        YES,
        {"now": NOW - timedelta(hours=1)},
        "It says it was decided in the future, at 2026-07-04 12:00:00+00:00; set that clock right",
    ),
    "not signed": (
        say("ben", "lead", signature=None),
        {},
        "Rule 'all' asks for a signed approval; sign it with --key",
    ),
    "wrongly signed": (say("ben", "lead", signature="other"), {}, "the signature is wrong"),
}


@pytest.mark.parametrize(("approval", "differing", "why"), IMPROPER.values(), ids=IMPROPER)
def test_an_improper_approval_is_refused_with_the_reason(approval, differing, why):
    assert refusal(approval, **differing) == why


@pytest.mark.parametrize(("approval", "differing", "why"), IMPROPER.values(), ids=IMPROPER)
def test_an_improper_approval_does_not_count_later_either(approval, differing, why):
    consent = judge(approval, say("ada", "manager"), **differing)
    assert "lead" in consent.missing
    assert (approval, why) in consent.ignored


def test_a_proper_approval_is_accepted():
    check(YES, say("ada", "manager"))
    assert judge(YES, say("ada", "manager")).missing == ()


def test_the_same_approval_a_second_time_is_refused_while_the_first_holds():
    again = say("ben", "lead", decided_at=NOW + timedelta(hours=1))
    assert refusal(again, YES, now=NOW + timedelta(hours=1)) == (
        "'ben' has agreed as 'lead' already, until 2026-07-05 12:00:00+00:00"
    )


def test_who_agreed_in_one_role_is_refused_in_another():
    assert refusal(say("ada", "manager"), say("ada", "lead")) == (
        "'ada' has agreed as 'lead' and cannot be 'manager' as well; each role needs a principal "
        "of its own"
    )


def test_an_approval_may_be_renewed_when_the_first_has_expired():
    later = NOW + timedelta(hours=30)
    check(
        say("ben", "lead", decided_at=later, expires_at=later + timedelta(hours=1)), YES, now=later
    )


def test_an_unsigned_approval_is_enough_where_no_signature_is_asked_for():
    check(say("ben", "lead", signature=None), requirement=replace(REQUIREMENT, signed=False))


def test_a_wrong_signature_is_refused_even_where_none_is_asked_for():
    unsigned = replace(REQUIREMENT, signed=False)
    assert refusal(say("ben", "lead", signature="x"), requirement=unsigned) == (
        "the signature is wrong"
    )


def test_saying_no_needs_no_signature():
    check(NO)


def test_saying_no_needs_a_reason():
    assert refusal(replace(NO, reason=" ")).startswith("A rejection needs a reason")


def test_who_was_not_asked_cannot_say_no():
    assert refusal(replace(NO, principal="cleo")).startswith("'cleo' does not have the role")


def test_nothing_counts_once_somebody_who_was_asked_said_no():
    consent = judge(say("ada", "manager"), NO)
    assert (consent.missing, consent.counted) == (("manager", "lead"), ())
    assert consent.ignored[0][1] == "'ben' rejected the run: wrong calendar"


def test_nobody_agrees_to_what_was_rejected():
    assert refusal(say("ada", "manager"), NO) == (
        "'ben' rejected the run: wrong calendar; plan it anew"
    )


def test_one_principal_never_fills_two_roles():
    consent = judge(say("ada", "manager"), say("ada", "lead"))
    assert (consent.missing, len(consent.counted)) == (("lead",), 1)
    assert consent.ignored[0][1].startswith("is not needed")


def test_roles_are_shared_out_so_that_all_are_filled():
    given = (say("ada", "manager"), say("ada", "lead"), say("ben", "lead"))
    consent = judge(*given)
    assert (consent.missing, consent.counted) == ((), (given[0], given[2]))


def test_an_approval_beyond_what_is_asked_for_is_kept_and_said_to_be_spare():
    consent = judge(say("cleo", "manager"), say("ada", "lead"), YES)
    assert (consent.missing, [one.principal for one in consent.counted]) == ((), ["cleo", "ada"])
    assert [one.principal for one, _ in consent.ignored] == ["ben"]


def test_nothing_is_missing_where_nobody_is_asked():
    assert judge(requirement=replace(REQUIREMENT, roles=())).missing == ()


def test_a_consent_ends_when_its_principal_is_revoked():
    revoked = policy_with(
        "ben: {roles: [lead]}", "ben: {roles: [lead], revoked: true}\n  eve: {roles: [lead]}"
    )
    assert judge(YES, say("ada", "manager"), policy=revoked).missing == ("lead",)


def test_a_consent_ends_when_its_principal_loses_the_role():
    moved = policy_with("ben: {roles: [lead]}", "ben: {roles: [manager]}\n  eve: {roles: [lead]}")
    assert judge(YES, say("ada", "manager"), policy=moved).missing == ("lead",)


approvals = st.builds(
    say,
    st.sampled_from(["ada", "ben", "cleo", "dan", "eve", "zoe"]),
    st.sampled_from(["manager", "lead", "king"]),
    manifest_digest=st.sampled_from([DIGEST, "0" * 64]),
    signature=st.sampled_from([YES.signature, None, "other"]),
    expires_at=st.sampled_from([NOW, NOW + timedelta(hours=1), NOW + timedelta(hours=99)]),
)


@given(st.lists(approvals, max_size=6))
def test_what_counts_is_always_a_proper_consent(given):
    consent = judge(*given)
    assert all(POLICY.holds(one.principal, one.role) for one in consent.counted)
    assert all(one.manifest_digest == DIGEST and one.expires_at > NOW for one in consent.counted)
    assert len({one.principal for one in consent.counted}) == len(consent.counted)
    assert sorted((*consent.missing, *(one.role for one in consent.counted))) == ["lead", "manager"]


@given(st.lists(approvals, max_size=6))
def test_every_approval_either_counts_or_is_said_why_not(given):
    consent = judge(*given)
    assert all(one in consent.counted or one in dict_of(consent) for one in given)


def dict_of(consent: Consent) -> dict[Approval, str]:
    return dict(consent.ignored)


@pytest.mark.parametrize(
    ("principal", "existing", "role"),
    [
        ("ben", (), "lead"),
        ("ada", (say("cleo", "manager"),), "lead"),
        ("ada", (say("ben", "lead"),), "manager"),
        ("ada", (say("ben", "lead"), say("cleo", "manager")), "manager"),
    ],
)
def test_a_principal_gets_the_role_that_is_still_open(principal, existing, role):
    assert choose_role(principal, REQUIREMENT, POLICY, existing) == role


def test_a_principal_leaves_others_the_role_that_only_they_can_fill():
    assert choose_role("ada", REQUIREMENT, without_cleo(), ()) == "manager"
    swapped = replace(REQUIREMENT, roles=("lead", "manager"))
    assert choose_role("ada", swapped, without_cleo(), ()) == "manager"


def without_cleo() -> Policy:
    return policy_with("  cleo: {roles: [manager]}\n", "")


def test_a_principal_without_any_of_the_roles_is_refused():
    with pytest.raises(ApprovalRefused, match="asks for manager and lead, and 'dan' has no such"):
        choose_role("dan", REQUIREMENT, POLICY, ())
