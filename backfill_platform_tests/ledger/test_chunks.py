"""Claims of chunks: who may compute which days, and what a worker that lost its claim may do."""

import dataclasses

import pytest

from backfill_platform.domain.chunks import ChunkBusy, ChunkCounts, ChunkDone, ClaimedChunk
from backfill_platform.domain.errors import ChunkRefused, LostRace, RunStopped, RunUnknown
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import STOPPED, ChunkStatus, RunState
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.verdicts import Gate, Outcome
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import (
    ALONG_THE_ROAD,
    COUNTS,
    LEASE_SECONDS,
    NOW,
    after,
    claim,
    claimed,
    intent,
    january,
    judged,
    measured,
    move,
    register,
    stage,
    stage_and_validate,
)

DAYS = january(1, 10)


@pytest.fixture
def run_id(ledger: Ledger) -> RunId:
    return register(ledger).run_id


def statuses(ledger: Ledger, run_id: RunId) -> list[tuple[DayRange, ChunkStatus]]:
    return [(chunk.days, chunk.status) for chunk in ledger.chunks(run_id)]


def test_a_claim_makes_the_chunk(ledger: Ledger, run_id: RunId) -> None:
    claim = claimed(ledger, run_id, DAYS)
    (chunk,) = ledger.chunks(run_id)
    assert (claim.attempt, claim.fencing_token) == (1, 1)
    assert claim.lease_expires_at == after(LEASE_SECONDS)
    assert (chunk.chunk_id, chunk.days, chunk.worker) == ("20250101-20250110", DAYS, "w1")
    assert (chunk.status, chunk.started_at) == (ChunkStatus.CLAIMED, NOW)


def test_another_worker_waits_while_the_lease_lives(ledger: Ledger, run_id: RunId) -> None:
    claimed(ledger, run_id, DAYS)
    outcome = claim(ledger, run_id, DAYS, "w2", after(LEASE_SECONDS - 1))
    assert isinstance(outcome, ChunkBusy)
    assert outcome.may_become_free
    assert "w1 computes" in outcome.reason


def test_another_worker_takes_over_when_the_lease_ends(ledger: Ledger, run_id: RunId) -> None:
    claimed(ledger, run_id, DAYS)
    taken = claimed(ledger, run_id, DAYS, "w2", after(LEASE_SECONDS))
    assert (taken.attempt, taken.fencing_token) == (2, 2)


def test_a_renewed_lease_lives_longer(ledger: Ledger, run_id: RunId) -> None:
    own = claimed(ledger, run_id, DAYS)
    ledger.renew_lease(
        run_id, own.chunk_id, own.fencing_token, lease_seconds=LEASE_SECONDS, now=after(30)
    )
    assert isinstance(claim(ledger, run_id, DAYS, "w2", after(LEASE_SECONDS)), ChunkBusy)


def test_a_worker_may_claim_its_own_chunk_again(ledger: Ledger, run_id: RunId) -> None:
    claimed(ledger, run_id, DAYS)
    again = claimed(ledger, run_id, DAYS)
    assert (again.attempt, again.fencing_token) == (2, 2)


def test_a_failed_chunk_may_be_claimed_at_once(ledger: Ledger, run_id: RunId) -> None:
    own = claimed(ledger, run_id, DAYS)
    failed = ledger.fail_chunk(
        run_id, own.chunk_id, own.fencing_token, error="disk full", now=after(1)
    )
    assert (failed.status, failed.error, failed.finished_at) == (
        ChunkStatus.FAILED,
        "disk full",
        after(1),
    )
    assert claimed(ledger, run_id, DAYS, "w2").attempt == 2
    assert ledger.chunks(run_id)[0].error is None


def test_a_staged_chunk_is_done(ledger: Ledger, run_id: RunId) -> None:
    stage(ledger, run_id, claimed(ledger, run_id, DAYS))
    outcome = claim(ledger, run_id, DAYS, "w2")
    assert isinstance(outcome, ChunkDone)
    assert outcome.chunk.status is ChunkStatus.STAGED


@pytest.mark.parametrize("other", [january(10, 12), january(3, 4), DAYS.widen(after_days=1)])
def test_days_that_another_chunk_holds_are_not_given_away(
    ledger: Ledger, run_id: RunId, other: DayRange
) -> None:
    stage(ledger, run_id, claimed(ledger, run_id, DAYS))
    outcome = claim(ledger, run_id, other)
    assert isinstance(outcome, ChunkBusy)
    assert not outcome.may_become_free
    assert (outcome.holder.days, "as one chunk" in outcome.reason) == (DAYS, True)


def test_chunks_beside_each_other_do_not_meet(ledger: Ledger, run_id: RunId) -> None:
    assert claimed(ledger, run_id, january(1, 5)).fencing_token == 1
    assert claimed(ledger, run_id, january(6, 9)).fencing_token == 2


def test_the_days_of_a_failed_chunk_may_be_cut_anew(ledger: Ledger, run_id: RunId) -> None:
    own = claimed(ledger, run_id, DAYS)
    ledger.fail_chunk(run_id, own.chunk_id, own.fencing_token, error="memory", now=NOW)
    claimed(ledger, run_id, january(1, 5), "w2")
    assert statuses(ledger, run_id) == [
        (january(1, 5), ChunkStatus.CLAIMED),
        (DAYS, ChunkStatus.REPLACED),
    ]


def test_a_worker_whose_chunk_was_replaced_may_not_finish_it(ledger: Ledger, run_id: RunId) -> None:
    own = claimed(ledger, run_id, DAYS)
    claimed(ledger, run_id, january(1, 5), "w2", after(LEASE_SECONDS))
    with pytest.raises(LostRace, match="REPLACED"):
        stage(ledger, run_id, own)


def test_a_stale_token_may_write_nothing(ledger: Ledger, run_id: RunId) -> None:
    stale = claimed(ledger, run_id, DAYS)
    fresh = claimed(ledger, run_id, DAYS, "w2", after(LEASE_SECONDS))
    with pytest.raises(LostRace, match="token 1 may not"):
        stage(ledger, run_id, stale)
    with pytest.raises(LostRace, match="token 1 may not"):
        ledger.fail_chunk(run_id, stale.chunk_id, stale.fencing_token, error="late", now=NOW)
    stage(ledger, run_id, fresh)
    with pytest.raises(LostRace, match="token 1 may not"):
        ledger.record_verdicts(run_id, DAYS, judged(DAYS), now=NOW, fencing_token=1)


def test_finishing_and_failing_twice_equal_once(ledger: Ledger, run_id: RunId) -> None:
    own = claimed(ledger, run_id, DAYS)
    stage(ledger, run_id, own)
    stage(ledger, run_id, own)
    assert ledger.chunks(run_id)[0].status is ChunkStatus.STAGED
    first = ledger.fail_chunk(run_id, own.chunk_id, own.fencing_token, error="e", now=NOW)
    again = ledger.fail_chunk(run_id, own.chunk_id, own.fencing_token, error="e", now=after(9))
    assert again == first


def test_finishing_again_with_other_data_is_refused(ledger: Ledger, run_id: RunId) -> None:
    own = claimed(ledger, run_id, DAYS)
    stage(ledger, run_id, own)
    with pytest.raises(LostRace):
        ledger.finish_chunk_staging(
            run_id,
            own.chunk_id,
            own.fencing_token,
            counts=ChunkCounts(output_count=7, checksum="other"),
            measurements=measured(DAYS, "other"),
            now=NOW,
        )
    assert ledger.measurements(run_id, DAYS) == measured(DAYS)


def test_a_staged_chunk_keeps_its_counts_and_measurements(ledger: Ledger, run_id: RunId) -> None:
    stage(ledger, run_id, claimed(ledger, run_id, DAYS))
    (chunk,) = ledger.chunks(run_id)
    assert (chunk.input_count, chunk.output_count, chunk.checksum) == (9, 6, COUNTS.checksum)
    assert ledger.measurements(run_id) == measured(DAYS)
    assert ledger.measurements(run_id, january(2)) == measured(january(2))


def test_measurements_of_other_days_are_refused(ledger: Ledger, run_id: RunId) -> None:
    own = claimed(ledger, run_id, DAYS)
    with pytest.raises(ChunkRefused, match="2025-01-11"):
        ledger.finish_chunk_staging(
            run_id,
            own.chunk_id,
            own.fencing_token,
            counts=COUNTS,
            measurements=measured(january(1, 11)),
            now=NOW,
        )
    assert ledger.measurements(run_id) == ()


def test_a_chunk_whose_gates_all_passed_is_validated(ledger: Ledger, run_id: RunId) -> None:
    stage_and_validate(ledger, run_id, DAYS)
    stage_and_validate_again = ledger.record_verdicts(run_id, DAYS, judged(DAYS), now=after(9))
    assert stage_and_validate_again.status is ChunkStatus.VALIDATED
    assert ledger.verdicts(run_id, DAYS) == judged(DAYS)


def test_a_chunk_with_one_negative_verdict_fails(ledger: Ledger, run_id: RunId) -> None:
    stage(ledger, run_id, claimed(ledger, run_id, DAYS))
    verdicts = (*judged(january(1, 9)), *judged(january(10), Outcome.FAILED))
    chunk = ledger.record_verdicts(run_id, DAYS, verdicts, now=NOW)
    assert (chunk.status, chunk.error) == (
        ChunkStatus.FAILED,
        "1 verdicts are negative; key_unique of 2025-01-10: m",
    )
    assert ledger.verdicts(run_id) == verdicts


def test_verdicts_are_read_by_gate_and_as_outcomes_alone(ledger: Ledger, run_id: RunId) -> None:
    stage(ledger, run_id, claimed(ledger, run_id, DAYS))
    unique = judged(DAYS)
    rows = tuple(
        dataclasses.replace(one, gate=Gate.LATE_DATA, outcome=Outcome.WARNED) for one in unique
    )
    ledger.record_verdicts(run_id, DAYS, (*unique, *rows), now=NOW)

    assert ledger.verdicts(run_id, DAYS, (Gate.LATE_DATA,)) == rows
    assert ledger.outcomes(run_id, january(9, 11)) == {
        (day, gate): outcome
        for day in january(9, 10)
        for gate, outcome in ((Gate.KEY_UNIQUE, Outcome.PASSED), (Gate.LATE_DATA, Outcome.WARNED))
    }


def test_silence_is_no_verdict(ledger: Ledger, run_id: RunId) -> None:
    stage(ledger, run_id, claimed(ledger, run_id, DAYS))
    with pytest.raises(ChunkRefused, match="no verdict on 2025-01-10"):
        ledger.record_verdicts(run_id, DAYS, judged(january(1, 9)), now=NOW)
    with pytest.raises(ChunkRefused, match="no verdict"):
        ledger.record_verdicts(run_id, DAYS, (), now=NOW)


def test_another_judgement_of_a_judged_chunk_is_refused(ledger: Ledger, run_id: RunId) -> None:
    stage_and_validate(ledger, run_id, DAYS)
    with pytest.raises(LostRace):
        ledger.record_verdicts(run_id, DAYS, judged(DAYS, Outcome.FAILED), now=NOW)
    assert ledger.verdicts(run_id) == judged(DAYS)


def test_staging_again_forgets_older_verdicts(ledger: Ledger, run_id: RunId) -> None:
    stage(ledger, run_id, claimed(ledger, run_id, DAYS))
    ledger.record_verdicts(run_id, DAYS, judged(DAYS, Outcome.FAILED), now=NOW)
    stage(ledger, run_id, claimed(ledger, run_id, DAYS))
    assert ledger.verdicts(run_id) == ()


def test_only_a_validated_chunk_is_published(ledger: Ledger, run_id: RunId) -> None:
    stage(ledger, run_id, claimed(ledger, run_id, DAYS))
    with pytest.raises(LostRace, match="STAGED"):
        ledger.mark_chunk_published(run_id, DAYS, now=NOW)
    ledger.record_verdicts(run_id, DAYS, judged(DAYS), now=NOW)
    first = ledger.mark_chunk_published(run_id, DAYS, now=NOW)
    assert first.status is ChunkStatus.PUBLISHED
    assert ledger.mark_chunk_published(run_id, DAYS, now=after(9)) == first


def test_a_published_chunk_cannot_fail(ledger: Ledger, run_id: RunId) -> None:
    stage_and_validate(ledger, run_id, DAYS)
    chunk = ledger.mark_chunk_published(run_id, DAYS, now=NOW)
    with pytest.raises(LostRace, match="PUBLISHED"):
        ledger.fail_chunk(run_id, chunk.chunk_id, chunk.fencing_token, error="late", now=NOW)


def test_a_chunk_whose_publication_may_have_landed_cannot_fail(
    ledger: Ledger, run_id: RunId
) -> None:
    stage_and_validate(ledger, run_id, DAYS)
    wanted = ledger.record_intent(intent(run_id, january(2)), now=NOW).intent
    (chunk,) = ledger.chunks(run_id)
    with pytest.raises(LostRace, match="Recover it first"):
        ledger.fail_chunk(run_id, chunk.chunk_id, chunk.fencing_token, error="gone", now=NOW)
    ledger.give_up_intent(wanted.publication_id, now=NOW)
    failed = ledger.fail_chunk(run_id, chunk.chunk_id, chunk.fencing_token, error="gone", now=NOW)
    assert failed.status is ChunkStatus.FAILED


def test_covered_days_are_those_of_chunks_in_the_given_statuses(
    ledger: Ledger, run_id: RunId
) -> None:
    stage(ledger, run_id, claimed(ledger, run_id, january(1, 2)))
    claimed(ledger, run_id, january(5))
    assert ledger.covered_days(run_id, {ChunkStatus.STAGED}) == frozenset(january(1, 2))
    assert ledger.covered_days(run_id, {ChunkStatus.VALIDATED}) == frozenset()


@pytest.mark.parametrize("state", sorted(STOPPED))
def test_nothing_is_claimed_of_a_run_that_was_stopped(
    ledger: Ledger, run_id: RunId, state: RunState
) -> None:
    move(ledger, run_id, RunState.PLANNED, state)
    with pytest.raises(RunStopped, match=f"is {state} since 2026-07-04"):
        claim(ledger, run_id, DAYS)


def test_nothing_is_computed_again_of_a_run_that_was_rolled_back(
    ledger: Ledger, run_id: RunId
) -> None:
    move(ledger, run_id, *ALONG_THE_ROAD, RunState.ROLLED_BACK)
    with pytest.raises(ChunkRefused, match="ROLLED_BACK"):
        claim(ledger, run_id, DAYS)


def test_no_more_partitions_are_computed_at_once_than_the_limit(
    ledger: Ledger, run_id: RunId
) -> None:
    claimed(ledger, run_id, january(1, 4), at_once=7)
    outcome = claim(ledger, run_id, january(5, 8), "w2", at_once=7)
    assert isinstance(outcome, ChunkBusy)
    assert outcome.may_become_free
    assert "the limit is 7; wait for w1 (2025-01-01..2025-01-04)" in outcome.reason
    assert len(ledger.chunks(run_id)) == 1


def test_as_many_partitions_as_the_limit_are_computed_at_once(
    ledger: Ledger, run_id: RunId
) -> None:
    claimed(ledger, run_id, january(1, 4), at_once=7)
    assert claimed(ledger, run_id, january(5, 7), "w2", at_once=7).fencing_token == 2


def test_a_staged_chunk_makes_room_under_the_limit(ledger: Ledger, run_id: RunId) -> None:
    stage(ledger, run_id, claimed(ledger, run_id, january(1, 4), at_once=4))
    assert claimed(ledger, run_id, january(5, 8), "w2", at_once=4).fencing_token == 2


def test_a_lease_that_ended_makes_room_under_the_limit(ledger: Ledger, run_id: RunId) -> None:
    claimed(ledger, run_id, january(1, 4), at_once=4)
    late = after(LEASE_SECONDS)
    assert claimed(ledger, run_id, january(5, 8), "w2", late, at_once=4).fencing_token == 2


def test_a_chunk_that_is_claimed_again_is_not_counted_twice(ledger: Ledger, run_id: RunId) -> None:
    claimed(ledger, run_id, january(1, 4), at_once=4)
    assert claimed(ledger, run_id, january(1, 4), at_once=4).attempt == 2


def test_a_chunk_that_is_larger_than_the_limit_is_refused(ledger: Ledger, run_id: RunId) -> None:
    with pytest.raises(ChunkRefused, match="10 partitions, and this run may compute 4 at once"):
        claim(ledger, run_id, DAYS, at_once=4)


def test_numbers_that_are_too_large_for_canonical_json_are_kept(
    ledger: Ledger, run_id: RunId
) -> None:
    own = claimed(ledger, run_id, january(1))
    large = dataclasses.replace(measured(january(1))[0], measures={"cents": 2**60})
    ledger.finish_chunk_staging(
        run_id, own.chunk_id, own.fencing_token, counts=COUNTS, measurements=[large], now=NOW
    )
    assert ledger.measurements(run_id) == (large,)


def test_nothing_is_claimed_of_an_unknown_run(ledger: Ledger) -> None:
    with pytest.raises(RunUnknown, match="bf-none"):
        claim(ledger, RunId("bf-none"), DAYS)


def test_chunks_of_other_runs_are_in_nobodys_way(ledger: Ledger, run_id: RunId) -> None:
    claimed(ledger, run_id, DAYS)
    assert isinstance(claim(ledger, register(ledger, "cli:2").run_id, DAYS, "w2"), ClaimedChunk)
