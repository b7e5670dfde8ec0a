"""A review is an event of its run, about exactly what is held just then, whole or not at all."""

from dataclasses import replace

import pytest

from backfill_platform.domain.approvals import Decision
from backfill_platform.domain.errors import ApprovalRefused, EngineUnavailable
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.reviews import Review, subject_of, without_review
from backfill_platform.domain.runs import RunRecord
from backfill_platform.domain.verdicts import Outcome
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import (
    ALONG_THE_ROAD,
    NOW,
    after,
    claimed,
    january,
    judged,
    move,
    register,
    stage,
)
from backfill_platform_tests.ledger.tampering import tamper
from backfill_platform_tests.ledger.test_losses import held_by_another, impatient

DAYS = january(1, 5)
LATER = january(6, 9)
TO_PUBLISHING = ALONG_THE_ROAD[2 : ALONG_THE_ROAD.index(RunState.PUBLISHING) + 1]


@pytest.fixture
def held(ledger: Ledger) -> RunRecord:
    """Two chunks, of which the first is held on every day."""
    record = register(ledger, "run", january(1, 9))
    move(ledger, record.run_id, *ALONG_THE_ROAD[:3])
    stage_and_hold(ledger, record, DAYS)
    stage(ledger, record.run_id, claimed(ledger, record.run_id, LATER))
    ledger.record_verdicts(record.run_id, LATER, judged(LATER), now=NOW)
    return record


def stage_and_hold(ledger: Ledger, run: RunRecord, days: DayRange) -> None:
    stage(ledger, run.run_id, claimed(ledger, run.run_id, days))
    ledger.record_verdicts(run.run_id, days, judged(days, Outcome.HELD), now=NOW)


def stage_again(ledger: Ledger, run: RunRecord) -> None:
    (chunk, _) = ledger.chunks(run.run_id)
    ledger.fail_chunk(run.run_id, chunk.chunk_id, chunk.fencing_token, error="x", now=NOW)
    stage_and_hold(ledger, run, DAYS)


def drafted(ledger: Ledger, run: RunRecord, principal: str = "bo", **changed: object) -> Review:
    said = Review(
        run_id=run.run_id,
        manifest_digest=run.manifest_digest,
        chunks=subject_of(ledger.held_chunks(run.run_id)),
        principal=principal,
        role="case-intake",
        decision=Decision.APPROVED,
        reason="the holiday was missing",
        decided_at=NOW,
    )
    return replace(said, **changed)


def unreviewed(ledger: Ledger, run: RunRecord) -> list[DayRange]:
    held = ledger.held_chunks(run.run_id)
    return [chunk.days for chunk in without_review(held, ledger.reviews(run.run_id))]


def test_only_what_is_held_has_to_be_reviewed(ledger: Ledger, held: RunRecord) -> None:
    assert unreviewed(ledger, held) == [DAYS]


def test_a_review_counts_for_what_it_was_about(ledger: Ledger, held: RunRecord) -> None:
    review = drafted(ledger, held)
    assert ledger.record_review(review, now=after(60)) == review
    assert (unreviewed(ledger, held), ledger.reviews(held.run_id)) == ([], (review,))


def test_a_review_leaves_the_run_where_it_was_and_its_chain_whole(
    ledger: Ledger, held: RunRecord
) -> None:
    ledger.record_review(drafted(ledger, held), now=after(60))
    last = ledger.events(held.run_id)[-1]
    assert (last.actor, last.to_state, last.cause) == (
        "bo",
        RunState.STAGING,
        "5 held verdicts accepted by bo as case-intake: the holiday was missing",
    )
    assert ledger.verify_run(held.run_id) == ()


def test_reviewing_twice_equals_reviewing_once(ledger: Ledger, held: RunRecord) -> None:
    first = ledger.record_review(drafted(ledger, held), now=after(60))
    events = ledger.events(held.run_id)
    again = drafted(ledger, held, reason="said again", decided_at=after(120))
    assert (ledger.record_review(again, now=after(120)), ledger.events(held.run_id)) == (
        first,
        events,
    )


def test_a_signature_that_was_missing_may_be_added(ledger: Ledger, held: RunRecord) -> None:
    ledger.record_review(drafted(ledger, held), now=after(60))
    signed = drafted(ledger, held, signature="signed")
    assert ledger.record_review(signed, now=after(120)) == signed


def test_a_chunk_that_is_staged_again_has_to_be_reviewed_again(
    ledger: Ledger, held: RunRecord
) -> None:
    ledger.record_review(drafted(ledger, held), now=after(60))
    stage_again(ledger, held)
    assert unreviewed(ledger, held) == [DAYS]


def test_a_review_of_what_was_staged_again_meanwhile_is_not_kept(
    ledger: Ledger, held: RunRecord
) -> None:
    review = drafted(ledger, held)
    stage_again(ledger, held)
    before = ledger.events(held.run_id)
    with pytest.raises(ApprovalRefused, match="staged or judged again meanwhile"):
        ledger.record_review(review, now=after(60))
    assert ledger.events(held.run_id) == before


def test_a_review_of_nothing_is_not_kept(ledger: Ledger, held: RunRecord) -> None:
    with pytest.raises(ApprovalRefused, match="Nothing of run"):
        ledger.record_review(drafted(ledger, held, chunks={}), now=after(60))


def test_a_review_of_another_manifest_is_not_kept(ledger: Ledger, held: RunRecord) -> None:
    with pytest.raises(ApprovalRefused, match="reviewed manifest"):
        ledger.record_review(drafted(ledger, held, manifest_digest="other"), now=after(60))


def test_a_rejection_ends_the_run_with_its_reason(ledger: Ledger, held: RunRecord) -> None:
    rejection = drafted(ledger, held, decision=Decision.REJECTED, reason="the calendar is wrong")
    ledger.record_review(rejection, now=after(60))
    assert ledger.run(held.run_id).state is RunState.REJECTED
    assert ledger.events(held.run_id)[-1].cause.endswith("the calendar is wrong")
    assert ledger.verify_run(held.run_id) == ()


def test_the_rest_of_a_run_that_is_being_published_may_be_accepted(
    ledger: Ledger, held: RunRecord
) -> None:
    move(ledger, held.run_id, *TO_PUBLISHING)
    ledger.record_review(drafted(ledger, held), now=after(60))
    assert unreviewed(ledger, held) == []


def test_a_run_that_is_being_published_is_not_rejected(ledger: Ledger, held: RunRecord) -> None:
    move(ledger, held.run_id, *TO_PUBLISHING)
    with pytest.raises(ApprovalRefused, match="backfill rollback"):
        ledger.record_review(drafted(ledger, held, decision=Decision.REJECTED), now=after(60))
    assert ledger.run(held.run_id).state is RunState.PUBLISHING


def test_of_a_run_that_has_ended_no_review_is_kept(ledger: Ledger, held: RunRecord) -> None:
    move(ledger, held.run_id, RunState.STAGING, RunState.CANCELLED)
    with pytest.raises(ApprovalRefused, match="CANCELLED"):
        ledger.record_review(drafted(ledger, held), now=after(60))


def test_a_review_that_waits_too_long_is_not_half_recorded(
    ledger: Ledger, ledger_url: str, held: RunRecord
) -> None:
    rejection = drafted(ledger, held, decision=Decision.REJECTED)
    before = (ledger.run(held.run_id), ledger.events(held.run_id))
    with (
        held_by_another(ledger_url, held.run_id),
        impatient(ledger_url) as hurried,
        pytest.raises(EngineUnavailable, match="nothing was changed"),
    ):
        hurried.record_review(rejection, now=after(60))
    assert (ledger.run(held.run_id), ledger.events(held.run_id)) == before


def test_a_review_that_was_written_behind_the_ledgers_back_breaks_the_chain(
    ledger: Ledger, ledger_url: str, held: RunRecord
) -> None:
    ledger.record_review(drafted(ledger, held), now=after(60))
    tamper(
        ledger_url,
        "UPDATE run_event SET details = replace(details, 'holiday', 'weekend') WHERE seq > 1",
    )
    assert ledger.verify_run(held.run_id) == ("event 4 does not follow from the one before it",)
