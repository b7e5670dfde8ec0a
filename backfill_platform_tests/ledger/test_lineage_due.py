"""What lineage is owed is written with what it is about, and forgotten once it was told."""

import pytest

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import ChunkStatus, RunState
from backfill_platform.domain.verdicts import Outcome
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import (
    NOW,
    after,
    approval,
    claimed,
    january,
    judged,
    move,
    register,
    stage,
)

DAYS = january(1, 3)
S = RunState


@pytest.fixture
def run_id(ledger: Ledger) -> RunId:
    return register(ledger, days=DAYS).run_id


def owed(ledger: Ledger) -> list[tuple[int | None, str | None, int | None]]:
    return [
        (due.seq, due.chunk.status if due.chunk else None, due.chunk.attempt if due.chunk else None)
        for due in ledger.lineage_due(limit=100)
    ]


def test_a_run_is_owed_from_when_it_is_at_work(ledger: Ledger, run_id: RunId) -> None:
    move(ledger, run_id, S.PLANNED, S.APPROVED, S.STAGING, S.STAGED)
    assert owed(ledger) == [(3, None, None)]


def test_an_approval_is_no_move(ledger: Ledger, run_id: RunId) -> None:
    move(ledger, run_id, S.PLANNED, S.APPROVED, S.STAGING)
    ledger.record_approval(approval(ledger.run(run_id)), now=NOW)
    assert len(owed(ledger)) == 1


def test_a_chunk_is_owed_its_claim_and_its_end(ledger: Ledger, run_id: RunId) -> None:
    stage(ledger, run_id, claimed(ledger, run_id, DAYS))
    ledger.record_verdicts(run_id, DAYS, judged(DAYS, Outcome.FAILED), now=NOW)
    assert owed(ledger) == [(None, ChunkStatus.CLAIMED, 1), (None, ChunkStatus.FAILED, 1)]


def test_an_attempt_whose_worker_died_ends_when_another_one_begins(
    ledger: Ledger, run_id: RunId
) -> None:
    claimed(ledger, run_id, DAYS, "w1")
    claimed(ledger, run_id, DAYS, "w2", now=after(3600))
    assert owed(ledger) == [
        (None, ChunkStatus.CLAIMED, 1),
        (None, ChunkStatus.REPLACED, 1),
        (None, ChunkStatus.CLAIMED, 2),
    ]


def test_an_attempt_whose_days_others_took_over_ends_with_that(
    ledger: Ledger, run_id: RunId
) -> None:
    claimed(ledger, run_id, DAYS, "w1")
    claimed(ledger, run_id, january(1, 2), "w2", now=after(3600))
    assert owed(ledger)[1:] == [
        (None, ChunkStatus.REPLACED, 1),
        (None, ChunkStatus.CLAIMED, 1),
    ]


def test_what_was_told_is_forgotten_and_the_rest_is_not(ledger: Ledger, run_id: RunId) -> None:
    stage(ledger, run_id, claimed(ledger, run_id, DAYS))
    ledger.record_verdicts(run_id, DAYS, judged(DAYS), now=NOW)
    first, second = ledger.lineage_due(limit=2)
    ledger.forget_lineage_due([first.position], now=NOW)
    ledger.forget_lineage_due([first.position], now=NOW)
    assert ledger.lineage_due(limit=2) == (second,)
