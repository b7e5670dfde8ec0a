"""What gates hold of a run, and whether an owner has said that it may be published all the same.

Invariant: a held verdict is never published without a review of exactly it
(test_what_is_held_is_never_published_without_a_review_of_exactly_it). It is judged again each time,
from the stored reviews, today's policy and today's keys, as a consent is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from backfill_platform.domain.errors import ApprovalMissing
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.reviews import (
    HeldChunk,
    Review,
    review_of,
    verdicts_of,
    without_review,
)
from backfill_platform.domain.verdicts import Verdict
from backfill_platform.engine.platform import Platform
from backfill_platform.governance.reviews import ReviewTerms, counting_reviews
from backfill_platform.governance.signatures import verifier


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    chunks: tuple[HeldChunk, ...]  # that are not published yet
    unreviewed: tuple[HeldChunk, ...]
    counting: tuple[Review, ...]  # the oldest first


def held_of(platform: Platform, manifest: Manifest) -> Held:
    chunks = platform.ledger.held_chunks(manifest.run_id)
    reviews = platform.ledger.reviews(manifest.run_id) if chunks else ()
    counting = counting_reviews(reviews, review_terms(platform, manifest)) if reviews else ()
    return Held(chunks=chunks, unreviewed=without_review(chunks, counting), counting=counting)


def review_terms(platform: Platform, manifest: Manifest) -> ReviewTerms:
    now = platform.clock()
    return ReviewTerms(
        owner=platform.catalog.tables[manifest.target.table].owner,
        requested_by=manifest.requested_by,
        manifest_digest=manifest.digest,
        policy=platform.policy,
        verify=verifier(platform.signers, now=now),
        now=now,
    )


def refuse_unreviewed(platform: Platform, manifest: Manifest, days: Iterable[date]) -> None:
    asked = frozenset(days)
    held = held_of(platform, manifest).unreviewed
    unreviewed = [verdict for verdict in verdicts_of(held) if verdict.day in asked]
    if unreviewed:
        run_id = manifest.run_id
        raise ApprovalMissing(
            f"Run {run_id} waits for {waiting_for(unreviewed)}, so nothing is published; look at "
            f"it with `backfill compare {run_id}` and decide with `backfill review {run_id}`"
        )


def waiting_for(unreviewed: Sequence[Verdict]) -> str:
    """Names the first of them with its figures."""
    first = unreviewed[0]
    return f"{review_of(len(unreviewed))} (first {first.gate} of {first.day}: {first.message})"
