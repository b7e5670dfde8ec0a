"""Keeps an owner's word on held verdicts, as an event of the run; who may give it is governance's.

Invariant: a review is kept whole or not at all, and only of what is staged and judged at that very
moment (test_a_review_of_what_was_staged_again_meanwhile_is_not_kept).
"""

from datetime import datetime

import sqlalchemy as sa

from backfill_platform.domain.approvals import Decision
from backfill_platform.domain.errors import ApprovalRefused
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import OPEN_TO_DECISIONS, RunState
from backfill_platform.domain.plain import to_plain
from backfill_platform.domain.reviews import (
    REVIEWED,
    HeldChunk,
    Review,
    held_chunks,
    reviews_among,
    said_of_held,
    subject_of,
)
from backfill_platform.domain.runs import RunRecord
from backfill_platform.ledger.chunks import read_chunks
from backfill_platform.ledger.events import read_events
from backfill_platform.ledger.judgements import read_held_verdicts
from backfill_platform.ledger.runs import lock_run, move_run, note_on_run

# Of a run whose other partitions are being published, the rest may still be held.
_OPEN_TO_REVIEWS = OPEN_TO_DECISIONS | {RunState.PUBLISHING}


def record_review(connection: sa.Connection, review: Review, now: datetime) -> Review:
    """As it was given first, whoever gives it again."""
    record = lock_run(connection, review.run_id)
    known = read_reviews(connection, review.run_id)
    same = next((one for one in known if review.says_the_same_as(one)), None)
    if same is not None:
        return same
    _refuse_late(record, review)
    _refuse_other_subject(connection, record, review)
    _write_event(connection, record, review, now)
    return review


def read_held(connection: sa.Connection, run_id: RunId) -> tuple[HeldChunk, ...]:
    in_order = sorted(read_held_verdicts(connection, run_id), key=lambda one: (one.day, one.gate))
    return held_chunks(read_chunks(connection, run_id), in_order)


def read_reviews(connection: sa.Connection, run_id: RunId) -> tuple[Review, ...]:
    return reviews_among(read_events(connection, run_id))


def _refuse_late(record: RunRecord, review: Review) -> None:
    is_rejection = review.decision is Decision.REJECTED
    if is_rejection and record.state is RunState.PUBLISHING:
        raise ApprovalRefused(
            f"Some of run {record.run_id} is being published, so it cannot be rejected as a whole. "
            "Leave what is held unpublished, and take back the rest with "
            f"`backfill rollback {record.run_id}`"
        )
    if record.state not in _OPEN_TO_REVIEWS:
        raise ApprovalRefused(
            f"Run {record.run_id} is {record.state}, so a review of it changes nothing any more. "
            f"`backfill show {record.run_id}` tells what happened"
        )


def _refuse_other_subject(connection: sa.Connection, record: RunRecord, review: Review) -> None:
    if review.manifest_digest != record.manifest_digest:
        raise ApprovalRefused(
            f"{review.principal} reviewed manifest {review.manifest_digest[:12]}, and run "
            f"{record.run_id} is planned by {record.manifest_digest[:12]}; review that"
        )
    held = subject_of(read_held(connection, record.run_id))
    other = [days for days, chunk in review.chunks.items() if held.get(days) != chunk]
    if other or not review.chunks:
        raise ApprovalRefused(
            f"{', '.join(other) or 'Nothing'} of run {record.run_id} is not held as it was when it "
            "was looked at: it was staged or judged again meanwhile. Look at it as it is now: "
            f"`backfill review {record.run_id}`"
        )


def _write_event(
    connection: sa.Connection, record: RunRecord, review: Review, now: datetime
) -> None:
    said = "accepted" if review.decision is Decision.APPROVED else "rejected"
    event = {
        "actor": review.principal,
        "cause": (
            f"{said_of_held(review.held)} {said} by {review.principal} as {review.role}: "
            f"{review.reason}"
        ),
        "details": {REVIEWED: to_plain(review)},
        "now": now,
    }
    if review.decision is Decision.APPROVED:
        note_on_run(connection, record, **event)
        return
    move_run(connection, record.run_id, record.state, RunState.REJECTED, **event)
