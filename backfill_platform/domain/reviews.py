"""An owner's word on verdicts that are held, about exactly what is staged and judged now.

Invariant: what is staged or judged again has not been reviewed
(test_a_chunk_that_is_staged_again_has_to_be_reviewed_again). A review names the claim of each
chunk and the digest of its held verdicts, and not its days alone.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from backfill_platform.domain.approvals import Decision
from backfill_platform.domain.canonical import canonical_json
from backfill_platform.domain.chunks import ChunkRecord
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import ChunkStatus
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.plain import from_plain, to_plain
from backfill_platform.domain.runs import RunEvent
from backfill_platform.domain.verdicts import Gate, Verdict

REVIEWED = "review"  # in the details of an event


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldChunk:
    """What is held of a chunk that is not published yet."""

    days: DayRange
    claim: int  # the fencing token under which it was staged
    verdicts: tuple[Verdict, ...]

    @property
    def digest(self) -> str:
        ordered = sorted(self.verdicts, key=lambda verdict: (verdict.day, verdict.gate))
        document = [to_plain(verdict) for verdict in ordered]
        return hashlib.sha256(canonical_json(document).encode()).hexdigest()

    @property
    def subject(self) -> "ReviewedChunk":
        return ReviewedChunk(claim=self.claim, verdicts=len(self.verdicts), digest=self.digest)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedChunk:
    """What a review speaks of: these held verdicts on what this claim has staged."""

    claim: int
    verdicts: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """One principal's decision on everything that was held of a run when it was drafted."""

    run_id: RunId
    manifest_digest: str
    chunks: Mapping[str, ReviewedChunk]  # by the days of each
    principal: str
    role: str
    decision: Decision
    reason: str
    decided_at: datetime
    signature: str | None = None  # SSHSIG, armored, over `signed_text`

    @property
    def signed_text(self) -> str:
        """Everything but the signature, as canonical JSON."""
        document: dict[str, Any] = to_plain(self)
        del document["signature"]
        return canonical_json(document)

    @property
    def held(self) -> int:
        """Verdicts."""
        return sum(chunk.verdicts for chunk in self.chunks.values())

    def says_the_same_as(self, other: "Review") -> bool:
        """Whoever decides alike about the same adds nothing, but for a signature."""
        return (
            self.principal == other.principal
            and self.decision is other.decision
            and self.chunks == other.chunks
            and (self.signature is None or other.signature is not None)
        )


def held_chunks(
    chunks: Iterable[ChunkRecord], verdicts: Iterable[Verdict]
) -> tuple[HeldChunk, ...]:
    """Those that somebody has to look at before they are published."""
    held = [verdict for verdict in verdicts if verdict.is_held]
    found = (
        HeldChunk(
            days=chunk.days,
            claim=chunk.fencing_token,
            verdicts=tuple(verdict for verdict in held if verdict.day in chunk.days),
        )
        for chunk in chunks
        if chunk.status is ChunkStatus.VALIDATED
    )
    return tuple(chunk for chunk in found if chunk.verdicts)


def subject_of(held: Iterable[HeldChunk]) -> dict[str, ReviewedChunk]:
    return {str(chunk.days): chunk.subject for chunk in held}


def reviews_among(events: Iterable[RunEvent]) -> tuple[Review, ...]:
    """The oldest first."""
    return tuple(
        from_plain(Review, event.details[REVIEWED]) for event in events if REVIEWED in event.details
    )


def without_review(held: Iterable[HeldChunk], reviews: Iterable[Review]) -> tuple[HeldChunk, ...]:
    """Of which nobody has said, in any of these reviews, that it may be published."""
    accepted = [
        (days, chunk)
        for review in reviews
        if review.decision is Decision.APPROVED
        for days, chunk in review.chunks.items()
    ]
    return tuple(chunk for chunk in held if (str(chunk.days), chunk.subject) not in accepted)


def verdicts_of(held: Iterable[HeldChunk]) -> tuple[Verdict, ...]:
    """In the order of days, and of each day in that of its gates."""
    order = [*Gate]
    found = (verdict for chunk in held for verdict in chunk.verdicts)
    return tuple(sorted(found, key=lambda verdict: (verdict.day, order.index(verdict.gate))))


def said_of_held(count: int) -> str:
    return "1 held verdict" if count == 1 else f"{count:,} held verdicts"


def review_of(count: int) -> str:
    return f"the review of {said_of_held(count)} by an owner"


def held_days(held: Iterable[HeldChunk]) -> frozenset[date]:
    return frozenset(verdict.day for verdict in verdicts_of(held))
