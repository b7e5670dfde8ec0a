"""A review speaks of exactly what was held, and of nothing that differs from it in anything."""

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from backfill_platform.domain.approvals import Decision
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.plain import from_plain, to_plain
from backfill_platform.domain.reviews import HeldChunk, Review, subject_of, without_review
from backfill_platform.domain.verdicts import Gate, JudgedFigure, Outcome, Verdict

DAYS = DayRange.closed(date(2025, 1, 1), date(2025, 1, 3))

figures = st.builds(
    JudgedFigure,
    name=st.text(max_size=3),
    value=st.text(max_size=3),
    expected=st.text(max_size=3),
    found=st.text(max_size=3),
    strays=st.booleans(),
)
verdicts = st.builds(
    Verdict,
    gate=st.sampled_from(Gate),
    day=st.sampled_from([*DAYS]),
    outcome=st.just(Outcome.HELD),
    expected=st.text(max_size=3),
    found=st.text(max_size=3),
    message=st.text(max_size=3),
    figures=st.lists(figures, max_size=2).map(tuple),
)
held = st.builds(
    HeldChunk,
    days=st.just(DAYS),
    claim=st.integers(1, 3),
    verdicts=st.lists(
        verdicts, min_size=1, max_size=3, unique_by=lambda one: (one.day, one.gate)
    ).map(tuple),
)


def review_of(chunk: HeldChunk, **changed: Any) -> Review:
    said = Review(
        run_id=RunId("bf-20260704-cases-1.0.0-001"),
        manifest_digest="d",
        chunks=subject_of([chunk]),
        principal="bo",
        role="owner",
        decision=Decision.APPROVED,
        reason="seen",
        decided_at=datetime(2026, 7, 4, tzinfo=UTC),
    )
    return replace(said, **changed)


@given(reviewed=held, now=held)
def test_a_review_counts_for_exactly_what_it_was_about(reviewed: HeldChunk, now: HeldChunk) -> None:
    is_the_same = (reviewed.claim, {*reviewed.verdicts}) == (now.claim, {*now.verdicts})
    assert (without_review([now], [review_of(reviewed)]) == ()) is is_the_same


@given(chunk=held)
def test_the_order_of_verdicts_makes_no_other_review(chunk: HeldChunk) -> None:
    turned = replace(chunk, verdicts=chunk.verdicts[::-1])
    assert without_review([turned], [review_of(chunk)]) == ()


@given(chunk=held)
def test_a_rejection_lets_nothing_through(chunk: HeldChunk) -> None:
    assert without_review([chunk], [review_of(chunk, decision=Decision.REJECTED)]) == (chunk,)


@given(chunk=held)
def test_a_review_is_read_as_it_was_written(chunk: HeldChunk) -> None:
    review = review_of(chunk)
    assert from_plain(Review, to_plain(review)) == review
