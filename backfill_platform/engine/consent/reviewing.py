"""Takes an owner's word on what gates hold of a run, and refuses what would not count.

Saying yes lets exactly these figures be published; saying no ends the run.
"""

from dataclasses import dataclass

from backfill_platform.domain.approvals import Decision
from backfill_platform.domain.errors import ApprovalRefused
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.reviews import HeldChunk, Review, subject_of
from backfill_platform.engine.consent.held import held_of, review_terms
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.records import keep_record
from backfill_platform.governance.reviews import check_review, choose_reviewing_role


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    review: Review
    was_known: bool  # exactly this was accepted before; nothing was written


def draft_review(
    platform: Platform,
    run_id: RunId,
    *,
    principal: str,
    decision: Decision,
    reason: str,
    role: str | None = None,
) -> Review:
    """About everything that is held now, and not reviewed. Where all of it is accepted already, it
    is the word that was given."""
    manifest = load_manifest(platform, run_id)
    held = held_of(platform, manifest)
    _refuse_nothing_held(manifest, held.chunks)
    if decision is Decision.APPROVED and not held.unreviewed:
        return held.counting[-1]
    terms = review_terms(platform, manifest)
    return Review(
        run_id=run_id,
        manifest_digest=manifest.digest,
        chunks=subject_of(held.unreviewed or held.chunks),
        principal=principal,
        role=role or choose_reviewing_role(principal, terms),
        decision=decision,
        reason=reason,
        decided_at=platform.clock(),
    )


def review_run(platform: Platform, review: Review) -> Reviewed:
    """Doing it twice equals doing it once
    (test_reviewing_twice_equals_reviewing_once)."""
    manifest = load_manifest(platform, review.run_id)
    known = platform.ledger.reviews(review.run_id)
    if review not in known:
        check_review(review, review_terms(platform, manifest))
    kept = platform.ledger.record_review(review, now=platform.clock())
    _keep(platform, kept)
    return Reviewed(review=kept, was_known=kept in known)


def _refuse_nothing_held(manifest: Manifest, held: tuple[HeldChunk, ...]) -> None:
    run_id = manifest.run_id
    if manifest.never_publishes:
        raise ApprovalRefused(
            f"Run {run_id} is never published, so nothing of it waits for a review; "
            f"`backfill validate {run_id}` shows what its gates say"
        )
    if not held:
        raise ApprovalRefused(
            f"Nothing of run {run_id} is held, so there is nothing to review; "
            f"`backfill status {run_id}` says what it waits for"
        )


def _keep(platform: Platform, review: Review) -> None:
    keep_record(
        platform,
        review.run_id,
        "review",
        key=f"review:{review.principal}:{review.decision}:{review.decided_at.isoformat()}",
        body={"text": review.signed_text, "signature": review.signature},
    )
