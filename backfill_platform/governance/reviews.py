"""Who may say that what a gate holds is published all the same, and whether their word counts.

Ordinarily whoever owns the table: a principal with the role that is named like its owner. The same
judgement is made when a review is given and when the run is published, as with a consent: in
between its principal may be revoked, and so may the key.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from backfill_platform.domain.approvals import Decision
from backfill_platform.domain.errors import ApprovalRefused
from backfill_platform.domain.reviews import Review
from backfill_platform.governance.consent import CLOCK_TOLERANCE
from backfill_platform.governance.persons import wrong_person
from backfill_platform.governance.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewTerms:
    """Of one run: whose table it is, who asked for it, and what counts now."""

    owner: str
    requested_by: str
    manifest_digest: str
    policy: Policy
    verify: Callable[[Review], str]  # raises ApprovalRefused; see `signatures.verifier`
    now: datetime

    @property
    def roles(self) -> tuple[str, ...]:
        """The owner's first; each of them is enough."""
        asked = self.policy.reviews
        return tuple(dict.fromkeys((*((self.owner,) if asked.by_owners else ()), *asked.roles)))


def choose_reviewing_role(principal: str, terms: ReviewTerms) -> str:
    own = [role for role in terms.roles if terms.policy.holds(principal, role)]
    if own:
        return own[0]
    raise ApprovalRefused(
        wrong_person(principal, requested_by=terms.requested_by, policy=terms.policy)
        or f"{principal!r} has none of the roles that review this table. {_who_may(terms)}"
    )


def check_review(review: Review, terms: ReviewTerms) -> None:
    """Refuses a review that would not count, with the reason."""
    objection = _objection(review, terms)
    if objection is not None:
        raise ApprovalRefused(objection)


def counting_reviews(reviews: Iterable[Review], terms: ReviewTerms) -> tuple[Review, ...]:
    return tuple(review for review in reviews if _objection(review, terms) is None)


def _objection(review: Review, terms: ReviewTerms) -> str | None:
    return (
        _wrong_manifest(review, terms)
        or wrong_person(review.principal, requested_by=terms.requested_by, policy=terms.policy)
        or _wrong_role(review, terms)
        or _wrong_words(review, terms)
        or _wrong_signature(review, terms)
    )


def _wrong_manifest(review: Review, terms: ReviewTerms) -> str | None:
    if review.manifest_digest == terms.manifest_digest:
        return None
    return (
        f"It is about manifest {review.manifest_digest[:16]} and the run's is "
        f"{terms.manifest_digest[:16]}; look at the run as it is now and review again"
    )


def _wrong_role(review: Review, terms: ReviewTerms) -> str | None:
    is_asked = review.role in terms.roles
    if is_asked and terms.policy.holds(review.principal, review.role):
        return None
    said = "does not have" if is_asked else "reviews nothing here by"
    return f"{review.principal!r} {said} the role {review.role!r}. {_who_may(terms)}"


def _wrong_words(review: Review, terms: ReviewTerms) -> str | None:
    if not review.reason.strip():
        return "A review needs a reason: whoever reads these figures later will ask. Give --reason"
    if review.decided_at > terms.now + CLOCK_TOLERANCE:
        return f"It says it was given in the future, at {review.decided_at}; set that clock right"
    return None


def _wrong_signature(review: Review, terms: ReviewTerms) -> str | None:
    """Saying no must be easy; but a signature that is given has to be right."""
    if review.signature is None:
        is_asked = terms.policy.reviews.signed and review.decision is Decision.APPROVED
        return "The policy asks for signed reviews; sign it with --key" if is_asked else None
    try:
        terms.verify(review)
    except ApprovalRefused as refused:
        return str(refused)
    return None


def _who_may(terms: ReviewTerms) -> str:
    holders = sorted({name for role in terms.roles for name in terms.policy.holders(role)})
    if holders:
        return f"{' or '.join(terms.roles)} may; that is {', '.join(holders)}"
    return (
        f"It is reviewed by {' or '.join(terms.roles)}, and no principal has such a role; give it "
        "to somebody in governance.yaml, or name other roles under `reviews`"
    )
