"""That a run was compared is an event of it, and counts for the chunks that were looked at."""

import pytest

from backfill_platform.domain.comparisons import Comparison, compared_days, name_chunks
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.runs import RunRecord
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import (
    ALONG_THE_ROAD,
    NOW,
    after,
    january,
    move,
    register,
    stage_and_validate,
)

DAYS = january(1, 5)
TO_PUBLISHING = ALONG_THE_ROAD[2 : ALONG_THE_ROAD.index(RunState.PUBLISHING) + 1]


@pytest.fixture
def staged(ledger: Ledger) -> RunRecord:
    record = register(ledger, "run", DAYS)
    move(ledger, record.run_id, *ALONG_THE_ROAD[:3])
    stage_and_validate(ledger, record.run_id, DAYS)
    return record


def compare(ledger: Ledger, run: RunRecord) -> bool:
    comparison = Comparison(
        run_id=run.run_id,
        actor="bo",
        chunks=name_chunks(ledger.chunks(run.run_id)),
        added=1,
        removed=2,
        changed=3,
        unchanged=4,
        summary_digest="f" * 64,
    )
    return ledger.record_comparison(comparison, now=after(60))


def compared(ledger: Ledger, run: RunRecord) -> frozenset:
    return compared_days(ledger.events(run.run_id), ledger.chunks(run.run_id))


def test_nothing_is_compared_before_somebody_says_so(ledger: Ledger, staged: RunRecord) -> None:
    assert compared(ledger, staged) == frozenset()


def test_a_comparison_counts_for_the_days_of_its_chunks(ledger: Ledger, staged: RunRecord) -> None:
    assert compare(ledger, staged)
    assert compared(ledger, staged) == frozenset(DAYS)


def test_a_comparison_leaves_the_run_where_it_was_and_its_chain_whole(
    ledger: Ledger, staged: RunRecord
) -> None:
    compare(ledger, staged)
    last = ledger.events(staged.run_id)[-1]
    assert (last.actor, last.from_state, last.to_state) == (
        "bo",
        RunState.STAGING,
        RunState.STAGING,
    )
    assert last.cause == "compared: 1 keys added, 2 keys removed, 3 keys changed, 4 keys unchanged"
    assert ledger.verify_run(staged.run_id) == ()


def test_a_chunk_that_fails_after_it_was_compared_is_compared_no_longer(
    ledger: Ledger, staged: RunRecord
) -> None:
    compare(ledger, staged)
    (chunk,) = ledger.chunks(staged.run_id)
    ledger.fail_chunk(staged.run_id, chunk.chunk_id, chunk.fencing_token, error="x", now=NOW)
    stage_and_validate(ledger, staged.run_id, DAYS)
    assert compared(ledger, staged) == frozenset()


def test_of_a_run_that_is_being_published_no_comparison_is_kept(
    ledger: Ledger, staged: RunRecord
) -> None:
    move(ledger, staged.run_id, *TO_PUBLISHING)
    before = ledger.events(staged.run_id)
    assert not compare(ledger, staged)
    assert ledger.events(staged.run_id) == before
