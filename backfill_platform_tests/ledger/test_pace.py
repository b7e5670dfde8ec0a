"""The figures that estimates and limits rest on: what chunks took, and how often was committed."""

import pytest

from backfill_platform.domain.chunks import ChunkCounts
from backfill_platform.domain.estimates import PastChunk
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.partitions import DayRange
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import (
    NOW,
    TABLE,
    after,
    claimed,
    intent,
    january,
    judged,
    publish,
    register,
)


@pytest.fixture
def run_id(ledger: Ledger) -> RunId:
    return register(ledger).run_id


def stage_in(ledger: Ledger, run_id: RunId, days: DayRange, *, seconds: int, rows: int) -> None:
    chunk = claimed(ledger, run_id, days)
    ledger.finish_chunk_staging(
        run_id,
        chunk.chunk_id,
        chunk.fencing_token,
        counts=ChunkCounts(input_count=rows * 2, output_count=rows, checksum="sum"),
        measurements=(),
        now=after(seconds),
    )


def past(seconds: float, rows: int, partitions: int) -> PastChunk:
    return PastChunk(rows_read=rows * 2, rows_out=rows, seconds=seconds, partitions=partitions)


def test_past_chunks_are_told_the_newest_first(ledger: Ledger, run_id: RunId) -> None:
    stage_in(ledger, run_id, january(4), seconds=7, rows=70)
    stage_in(ledger, run_id, january(1, 3), seconds=30, rows=300)
    assert ledger.past_chunks(TABLE) == (past(30, 300, 3), past(7, 70, 1))
    assert ledger.past_chunks(TABLE, limit=1) == (past(30, 300, 3),)


def test_past_chunks_come_from_every_run_of_the_table_alone(ledger: Ledger, run_id: RunId) -> None:
    other = register(ledger, "other").run_id
    elsewhere = register(ledger, "elsewhere", table="gold.x").run_id
    stage_in(ledger, run_id, january(1), seconds=1, rows=1)
    stage_in(ledger, other, january(1), seconds=2, rows=2)
    stage_in(ledger, elsewhere, january(1), seconds=3, rows=3)
    assert ledger.past_chunks(TABLE) == (past(2, 2, 1), past(1, 1, 1))


def test_only_what_was_finished_is_a_past_chunk(ledger: Ledger, run_id: RunId) -> None:
    claimed(ledger, run_id, january(1))
    lost = claimed(ledger, run_id, january(2))
    ledger.fail_chunk(run_id, lost.chunk_id, lost.fencing_token, error="disk", now=after(9))
    stage_in(ledger, run_id, january(3), seconds=5, rows=50)
    ledger.record_verdicts(run_id, january(3), judged(january(3)), now=after(6))
    ledger.mark_chunk_published(run_id, january(3), now=after(7))
    assert ledger.past_chunks(TABLE) == (past(5, 50, 1),)


def test_commits_are_told_from_an_instant_on(ledger: Ledger, run_id: RunId) -> None:
    publish(ledger, run_id, january(1), version=1, now=NOW)
    publish(ledger, run_id, january(2), version=2, now=after(60))
    publish(ledger, run_id, january(3), version=3, now=after(90))
    assert ledger.commit_times(run_id, after(60)) == (after(60), after(90))


def test_only_what_landed_for_this_run_is_a_commit(ledger: Ledger, run_id: RunId) -> None:
    publish(ledger, register(ledger, "other").run_id, january(1), version=1)
    ledger.record_intent(intent(run_id, january(2)), now=NOW)
    lost = ledger.record_intent(intent(run_id, january(3)), now=NOW).intent.publication_id
    ledger.give_up_intent(lost, now=NOW)
    assert ledger.commit_times(run_id, NOW) == ()
