"""Only an owner's word lets through what a gate holds, and only as long as it would count."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from backfill_platform.domain.approvals import Decision
from backfill_platform.domain.errors import ApprovalRefused, DeclarationInvalid
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.reviews import Review, ReviewedChunk
from backfill_platform.governance.policy import Policy, ReviewRule
from backfill_platform.governance.policy_file import read_policy
from backfill_platform.governance.reviews import (
    ReviewTerms,
    check_review,
    choose_reviewing_role,
    counting_reviews,
)
from backfill_platform_tests.governance.samples import (
    DIGEST,
    NOW,
    POLICY,
    POLICY_TEXT,
    RIGHT,
    SHIPPED,
)

YES = Review(
    run_id=RunId("bf-20260704-case_sla_daily-3.1.0-001"),
    manifest_digest=DIGEST,
    chunks={"2025-01-01": ReviewedChunk(claim=1, verdicts=2, digest="d")},
    principal="ben",
    role="lead",
    decision=Decision.APPROVED,
    reason="the holiday was missing",
    decided_at=NOW,
)


def reviewed_by(given: str) -> Policy:
    return read_policy(f"{POLICY_TEXT}reviews: {given}\n", origin="governance.yaml")


def verify(review: Review) -> str:
    if review.signature != RIGHT:
        raise ApprovalRefused("the signature is wrong")
    return "SHA256:right"


def terms(policy: Policy = POLICY, **differing: Any) -> ReviewTerms:
    said = ReviewTerms(
        owner="lead",
        requested_by="zoe",
        manifest_digest=DIGEST,
        policy=policy,
        verify=verify,
        now=NOW,
    )
    return replace(said, **differing)


def refusal(review: Review, under: ReviewTerms) -> str:
    with pytest.raises(ApprovalRefused) as refused:
        check_review(review, under)
    return str(refused.value)


def test_whoever_has_the_owners_role_reviews() -> None:
    check_review(YES, terms())
    assert choose_reviewing_role("ada", terms()) == "lead"


def test_the_policy_names_others_who_review_as_well() -> None:
    under = terms(reviewed_by("{roles: [manager]}"))
    check_review(replace(YES, principal="cleo", role="manager"), under)
    assert choose_reviewing_role("cleo", under) == "manager"


def test_owners_review_only_where_the_policy_lets_them() -> None:
    under = terms(reviewed_by("{owners: false, roles: [manager]}"))
    assert "'ben' reviews nothing here by the role 'lead'. manager may; that is ada, cleo" in (
        refusal(YES, under)
    )


@pytest.mark.parametrize(
    ("review", "under", "why"),
    [
        (YES, terms(requested_by=" BEN "), "nobody decides on their own request"),
        (replace(YES, principal="eve"), terms(), "'eve' is not a principal of the policy"),
        (replace(YES, principal="dan"), terms(), "'dan' is revoked"),
        (replace(YES, principal="cleo"), terms(), "'cleo' does not have the role 'lead'"),
        (replace(YES, reason=" "), terms(), "A review needs a reason"),
        (replace(YES, manifest_digest="other"), terms(), "look at the run as it is now"),
        (replace(YES, decided_at=NOW + timedelta(hours=1)), terms(), "in the future"),
        (replace(YES, signature="wrong"), terms(), "the signature is wrong"),
        (YES, terms(reviewed_by("{signed: true}")), "sign it with --key"),
    ],
)
def test_what_would_not_count_is_refused_and_does_not_count(
    review: Review, under: ReviewTerms, why: str
) -> None:
    assert why in refusal(review, under)
    assert counting_reviews([review], under) == ()


def test_a_signature_is_checked_and_a_rejection_needs_none() -> None:
    under = terms(reviewed_by("{signed: true}"))
    signed = replace(YES, signature=RIGHT)
    rejection = replace(YES, decision=Decision.REJECTED)
    assert counting_reviews([signed, rejection], under) == (signed, rejection)


def test_an_owner_whom_nobody_stands_for_is_told_with_what_to_do() -> None:
    with pytest.raises(ApprovalRefused, match="give it to somebody"):
        choose_reviewing_role("ben", terms(owner="case-intake"))


def test_a_requester_is_told_so_before_a_role_is_looked_for() -> None:
    with pytest.raises(ApprovalRefused, match="'eve' requested the run"):
        choose_reviewing_role("eve", terms(requested_by="eve"))


def test_a_policy_that_says_nothing_lets_owners_review() -> None:
    assert POLICY.reviews == ReviewRule(by_owners=True, roles=(), signed=False)


def test_the_shipped_policy_knows_the_owners_of_the_shipped_tables() -> None:
    policy = read_policy(SHIPPED.read_text(), origin="governance.yaml")
    assert [policy.holders(owner) for owner in ("case-intake", "regulatory-reporting")] == [
        ("case-intake",),
        ("regulatory-reporting",),
    ]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("{owners: false}", "line 14: reviews: nobody could review what a gate holds"),
        ("{roles: [chief]}", "line 14: reviews.roles: no principal that is not revoked has the"),
        ("{people: [ben]}", "line 14: reviews.people: is not known here"),
        ("{signed: 1}", "line 14: reviews.signed: Input should be a valid boolean"),
    ],
)
def test_nonsense_is_refused_with_its_place(given: str, expected: str) -> None:
    with pytest.raises(DeclarationInvalid) as refused:
        reviewed_by(given)
    assert expected in str(refused.value)
