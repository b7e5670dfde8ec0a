"""Processes that do the same at the same moment: one wins, and the ledger stays whole."""

from functools import partial

from backfill_platform.domain.approvals import Approval
from backfill_platform.domain.chunks import ChunkBusy, ClaimedChunk, ClaimOutcome
from backfill_platform.domain.errors import PartitionsHeld
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.runs import (
    AlreadyRecorded,
    LostRaceValue,
    Moved,
    Recorded,
    RunRecord,
)
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import (
    ALONG_THE_ROAD,
    NOW,
    TABLE,
    accepted_rows,
    approval,
    claim,
    intent,
    january,
    move,
    publish,
    register,
)
from backfill_platform_tests.racing import run_together

DAYS = january(1, 3)


def register_at(url: str, origin: str, days: DayRange | None = None) -> RunRecord:
    return register(Ledger.open(url), origin, days)


def take_up_again_at(url: str, run_id: RunId) -> Moved | LostRaceValue:
    return Ledger.open(url).move(
        run_id, RunState.FAILED, RunState.STAGING, actor="w", cause="c", details={}, now=NOW
    )


def decide_at(url: str, decision: Approval) -> Recorded | AlreadyRecorded:
    return Ledger.open(url).record_approval(decision, now=NOW)


def claim_at(url: str, run_id: RunId, days: DayRange, worker: str) -> ClaimOutcome:
    return claim(Ledger.open(url), run_id, days, worker)


def record_fact_at(url: str, publication_id: str, version: int) -> None:
    Ledger.open(url).record_fact(
        publication_id, version=version, accepted=accepted_rows(DAYS), now=NOW
    )


def approve_at(url: str, run_id: RunId, actor: str) -> Moved | LostRaceValue:
    return Ledger.open(url).move(
        run_id, RunState.PLANNED, RunState.APPROVED, actor=actor, cause="c", details={}, now=NOW
    )


def register_failed(ledger: Ledger, origin: str) -> RunId:
    run_id = register(ledger, origin, DAYS).run_id
    move(ledger, run_id, *ALONG_THE_ROAD[:3], RunState.FAILED)
    return run_id


def test_one_origin_becomes_one_run(ledger: Ledger, ledger_url: str) -> None:
    registered = run_together([partial(register_at, ledger_url, "same", DAYS)] * 4)
    assert registered == [ledger.runs()[0]] * 4
    assert len(ledger.runs()) == 1
    assert ledger.verify_events(registered[0].run_id) is None


def test_different_origins_become_different_runs(ledger: Ledger, ledger_url: str) -> None:
    registered = run_together([partial(register_at, ledger_url, f"o{n}") for n in range(4)])
    assert sorted(run.run_id[-3:] for run in registered) == ["001", "002", "003", "004"]


def test_of_two_overlapping_runs_that_race_one_is_registered(
    ledger: Ledger, ledger_url: str
) -> None:
    wanted = [january(1, 3), january(3, 5), january(2, 4), january(3)]
    outcomes = run_together([partial(register_at, ledger_url, f"o{days}", days) for days in wanted])
    assert sorted(type(outcome).__name__ for outcome in outcomes) == [
        PartitionsHeld.__name__,
        PartitionsHeld.__name__,
        PartitionsHeld.__name__,
        RunRecord.__name__,
    ]
    assert len(ledger.runs()) == 1


def test_of_two_failed_runs_that_are_taken_up_again_one_gets_the_partitions(
    ledger: Ledger, ledger_url: str
) -> None:
    run_ids = [register_failed(ledger, origin) for origin in ("a", "b", "c")]
    outcomes = run_together([partial(take_up_again_at, ledger_url, run_id) for run_id in run_ids])
    assert sorted(type(outcome).__name__ for outcome in outcomes) == [
        Moved.__name__,
        PartitionsHeld.__name__,
        PartitionsHeld.__name__,
    ]


def test_one_decision_is_recorded_once(ledger: Ledger, ledger_url: str) -> None:
    run = register(ledger)
    outcomes = run_together([partial(decide_at, ledger_url, approval(run))] * 3)
    assert sum(isinstance(outcome, Recorded) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, AlreadyRecorded) for outcome in outcomes) == 2
    assert len(ledger.events(run.run_id)) == 2
    assert ledger.verify_run(run.run_id) == ()


def test_decisions_and_moves_that_race_leave_one_chain(ledger: Ledger, ledger_url: str) -> None:
    run = register(ledger)
    deciding = [partial(decide_at, ledger_url, approval(run, name)) for name in "abc"]
    run_together([*deciding, partial(approve_at, ledger_url, run.run_id, "d")])
    assert len(ledger.events(run.run_id)) == 5
    assert len(ledger.approvals(run.run_id)) == 3
    assert ledger.verify_run(run.run_id) == ()


def test_overlapping_days_are_given_to_one_worker(ledger: Ledger, ledger_url: str) -> None:
    run_id = register(ledger).run_id
    wanted = [january(1, 3), january(2, 4), january(3, 5), january(1, 5)]
    outcomes = run_together(
        [partial(claim_at, ledger_url, run_id, days, f"w{days}") for days in wanted]
    )
    assert sorted(type(outcome).__name__ for outcome in outcomes) == [
        ChunkBusy.__name__,
        ChunkBusy.__name__,
        ChunkBusy.__name__,
        ClaimedChunk.__name__,
    ]


def test_one_of_two_moves_wins(ledger: Ledger, ledger_url: str) -> None:
    run_id = register(ledger).run_id
    outcomes = run_together([partial(approve_at, ledger_url, run_id, name) for name in "abc"])
    assert sum(isinstance(outcome, Moved) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, LostRaceValue) for outcome in outcomes) == 2
    assert len(ledger.events(run_id)) == 2


def test_one_fact_is_recorded_once(ledger: Ledger, ledger_url: str) -> None:
    run_id = register(ledger).run_id
    publication_id = ledger.record_intent(intent(run_id, DAYS), now=NOW).intent.publication_id
    answers = run_together([partial(record_fact_at, ledger_url, publication_id, 1)] * 3)
    assert answers == [None, None, None]
    assert len(ledger.accepted_history(TABLE, DAYS.start)) == 1


def test_the_newest_of_several_facts_is_accepted(ledger: Ledger, ledger_url: str) -> None:
    publish(ledger, register(ledger, "before").run_id, DAYS, version=1)
    runs = [register(ledger, origin).run_id for origin in ("a", "b", "c")]
    intents = [ledger.record_intent(intent(run_id, DAYS), now=NOW).intent for run_id in runs]
    run_together(
        [
            partial(record_fact_at, ledger_url, wanted.publication_id, version)
            for version, wanted in enumerate(intents, start=2)
        ]
    )
    current = ledger.accepted(TABLE, DAYS)
    assert {partition.run_id for partition in current.values()} == {runs[-1]}
    assert len(ledger.accepted_history(TABLE, DAYS.start)) == 4
