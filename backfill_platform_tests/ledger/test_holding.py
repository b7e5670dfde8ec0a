"""Partitions are held by the run that may still publish them; what ends it sets them free."""

import pytest

from backfill_platform.domain.canonical import canonical_json
from backfill_platform.domain.errors import PartitionsHeld, PlanRefused, RunUnknown
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import STOPPED, RunState
from backfill_platform.domain.manifests import is_dark
from backfill_platform.domain.modes import ExecutionMode, PublishScope
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.runs import RunInFlight, RunRecord
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import (
    ALONG_THE_ROAD,
    NOW,
    TABLE,
    VALID_UNTIL,
    after,
    january,
    move,
    register,
)

DAYS = january(5, 10)
APPROVED_TO_FAILED = (*ALONG_THE_ROAD[:3], RunState.FAILED)


@pytest.fixture
def holder(ledger: Ledger) -> RunRecord:
    return register(ledger, "holder", DAYS)


@pytest.mark.parametrize("days", [january(10, 12), january(1, 5), january(7), january(1, 31)])
def test_two_runs_that_overlap_are_not_both_registered(
    ledger: Ledger, holder: RunRecord, days: DayRange
) -> None:
    with pytest.raises(PartitionsHeld):
        register(ledger, "second", days)
    assert ledger.runs() == (holder,)


def test_a_refusal_names_the_run_its_days_and_what_to_do(ledger: Ledger, holder: RunRecord) -> None:
    with pytest.raises(PartitionsHeld) as refused:
        register(ledger, "second", january(9, 20))
    assert str(refused.value) == (
        f"Partitions of {TABLE} are held:\n"
        f"  - 2025-01-09..2025-01-10 by {holder.run_id} (PLANNED, of ana): wait for it "
        f"(`backfill show {holder.run_id}`), end it with `backfill cancel {holder.run_id}`, "
        f"or plan with `--replaces {holder.run_id}`"
    )


def test_every_run_in_the_way_is_named(ledger: Ledger, holder: RunRecord) -> None:
    other = register(ledger, "other", january(12))
    with pytest.raises(PartitionsHeld, match=rf"(?s){holder.run_id}.*\n.*{other.run_id}"):
        register(ledger, "second", january(1, 31))


def test_runs_beside_each_other_are_not_in_the_way(ledger: Ledger, holder: RunRecord) -> None:
    assert register(ledger, "before", january(1, 4)).state is RunState.PLANNED
    assert register(ledger, "after", january(11)).state is RunState.PLANNED


def test_another_table_is_not_in_the_way(ledger: Ledger, holder: RunRecord) -> None:
    assert register(ledger, "second", DAYS, table="gold.case_sla_daily").state is RunState.PLANNED


def test_whoever_comes_with_the_holders_origin_joins_it(ledger: Ledger, holder: RunRecord) -> None:
    assert register(ledger, "holder", DAYS) == holder


@pytest.mark.parametrize("mode", [ExecutionMode.DRY_RUN, ExecutionMode.RECONCILIATION])
def test_what_never_publishes_is_not_held(
    ledger: Ledger, holder: RunRecord, mode: ExecutionMode
) -> None:
    assert register(ledger, "second", DAYS, mode=mode).state is RunState.PLANNED


@pytest.mark.parametrize("mode", [ExecutionMode.DRY_RUN, ExecutionMode.RECONCILIATION])
def test_what_never_publishes_holds_nothing(ledger: Ledger, mode: ExecutionMode) -> None:
    register(ledger, "first", DAYS, mode=mode)
    assert register(ledger, "second", DAYS).state is RunState.PLANNED
    assert [held.run_id[-3:] for held in ledger.runs_in_flight(TABLE, NOW)] == ["002"]


@pytest.mark.parametrize("length", range(1, 7))
def test_a_run_holds_its_partitions_until_it_is_published(
    ledger: Ledger, holder: RunRecord, length: int
) -> None:
    move(ledger, holder.run_id, *ALONG_THE_ROAD[:length])
    with pytest.raises(PartitionsHeld, match=f"{ALONG_THE_ROAD[length - 1]}, of ana"):
        register(ledger, "second", DAYS)


def test_a_published_run_holds_nothing(ledger: Ledger, holder: RunRecord) -> None:
    move(ledger, holder.run_id, *ALONG_THE_ROAD)
    assert register(ledger, "second", DAYS).state is RunState.PLANNED


@pytest.mark.parametrize("state", sorted(STOPPED))
def test_a_stopped_run_holds_nothing(ledger: Ledger, holder: RunRecord, state: RunState) -> None:
    move(ledger, holder.run_id, RunState.PLANNED, state)
    assert register(ledger, "second", DAYS).state is RunState.PLANNED


def test_a_run_that_is_being_published_is_only_waited_for(
    ledger: Ledger, holder: RunRecord
) -> None:
    move(ledger, holder.run_id, *ALONG_THE_ROAD[:-1])
    with pytest.raises(PartitionsHeld) as refused:
        register(ledger, "second", DAYS)
    assert str(refused.value).endswith(f"wait for it (`backfill show {holder.run_id}`)")


@pytest.mark.parametrize("length", [1, 2])
def test_a_plan_whose_term_is_over_gives_way_and_expires(
    ledger: Ledger, holder: RunRecord, length: int
) -> None:
    move(ledger, holder.run_id, *ALONG_THE_ROAD[:length])
    second = register(ledger, "second", DAYS, now=VALID_UNTIL)
    expired = ledger.events(holder.run_id)[-1]
    assert (expired.to_state, expired.at) == (RunState.EXPIRED, VALID_UNTIL)
    assert (
        expired.cause == f"its plan was valid until 2026-07-07 09:00 UTC; {second.run_id} follows"
    )
    assert ledger.verify_events(holder.run_id) is None


def test_a_run_that_has_begun_does_not_expire(ledger: Ledger, holder: RunRecord) -> None:
    move(ledger, holder.run_id, *ALONG_THE_ROAD[:3])
    with pytest.raises(PartitionsHeld):
        register(ledger, "second", DAYS, now=VALID_UNTIL)
    assert ledger.run(holder.run_id).state is RunState.STAGING


def test_nothing_expires_when_the_new_run_is_refused(ledger: Ledger, holder: RunRecord) -> None:
    begun = register(ledger, "begun", january(12))
    move(ledger, begun.run_id, *ALONG_THE_ROAD[:3])
    with pytest.raises(PartitionsHeld, match=begun.run_id):
        register(ledger, "second", january(1, 31), now=VALID_UNTIL)
    assert ledger.run(holder.run_id) == holder


@pytest.mark.parametrize(
    "states", [ALONG_THE_ROAD[:1], ALONG_THE_ROAD[:5], APPROVED_TO_FAILED], ids=lambda way: way[-1]
)
def test_a_run_that_is_replaced_ends_when_its_successor_is_registered(
    ledger: Ledger, holder: RunRecord, states: tuple[RunState, ...]
) -> None:
    move(ledger, holder.run_id, *states)
    successor = register(ledger, "second", january(6, 7), replaces=holder.run_id, now=after(9))
    ended = ledger.events(holder.run_id)[-1]
    assert (ended.to_state, ended.at, ended.actor) == (RunState.CANCELLED, after(9), "ana")
    assert ended.cause == f"replaced by {successor.run_id}"
    assert ended.details == {"in_favour_of": successor.run_id}


def test_a_run_that_was_stopped_may_be_replaced(ledger: Ledger, holder: RunRecord) -> None:
    move(ledger, holder.run_id, RunState.PLANNED, RunState.REJECTED)
    assert register(ledger, "second", DAYS, replaces=holder.run_id).state is RunState.PLANNED
    assert len(ledger.events(holder.run_id)) == 2


@pytest.mark.parametrize("length", [6, 7])
def test_what_is_published_is_not_replaced(ledger: Ledger, holder: RunRecord, length: int) -> None:
    move(ledger, holder.run_id, *ALONG_THE_ROAD[:length])
    with pytest.raises(PlanRefused, match="cannot be replaced any more"):
        register(ledger, "second", january(20), replaces=holder.run_id)


def test_a_run_of_another_table_is_not_replaced(ledger: Ledger, holder: RunRecord) -> None:
    with pytest.raises(PlanRefused, match=f"is about {TABLE} and not gold.x"):
        register(ledger, "second", DAYS, table="gold.x", replaces=holder.run_id)


def test_an_unknown_run_is_not_replaced(ledger: Ledger) -> None:
    with pytest.raises(RunUnknown, match="bf-none"):
        register(ledger, "second", DAYS, replaces=RunId("bf-none"))


def test_a_failed_run_holds_nothing(ledger: Ledger, holder: RunRecord) -> None:
    move(ledger, holder.run_id, *APPROVED_TO_FAILED)
    assert register(ledger, "second", DAYS).state is RunState.PLANNED


def test_a_failed_run_is_not_taken_up_again_while_another_holds_its_partitions(
    ledger: Ledger, holder: RunRecord
) -> None:
    move(ledger, holder.run_id, *APPROVED_TO_FAILED)
    second = register(ledger, "second", january(10, 11))
    with pytest.raises(PartitionsHeld, match=f"2025-01-10 by {second.run_id}"):
        move(ledger, holder.run_id, RunState.FAILED, RunState.STAGING)
    assert ledger.run(holder.run_id).state is RunState.FAILED


def test_a_failed_run_is_taken_up_again_when_its_partitions_are_free(
    ledger: Ledger, holder: RunRecord
) -> None:
    move(ledger, holder.run_id, *APPROVED_TO_FAILED)
    second = register(ledger, "second", DAYS)
    move(ledger, second.run_id, RunState.PLANNED, RunState.CANCELLED)
    move(ledger, holder.run_id, RunState.FAILED, RunState.STAGING)
    assert ledger.run(holder.run_id).state is RunState.STAGING


def test_runs_in_flight_are_those_that_hold_partitions(ledger: Ledger, holder: RunRecord) -> None:
    ended = register(ledger, "ended", january(12))
    move(ledger, ended.run_id, RunState.PLANNED, RunState.CANCELLED)
    register(ledger, "elsewhere", DAYS, table="gold.case_sla_daily")
    assert ledger.runs_in_flight(TABLE, NOW) == (
        RunInFlight(
            run_id=holder.run_id,
            state=RunState.PLANNED,
            days=PartitionSet.of_range(DAYS),
            requested_by="ana",
        ),
    )


def test_runs_in_flight_of_many_tables_are_told_by_table(ledger: Ledger, holder: RunRecord) -> None:
    other = register(ledger, "elsewhere", DAYS, table="gold.case_sla_daily")
    register(ledger, "not-asked-for", DAYS, table="bronze.case_events")
    found = ledger.all_in_flight([TABLE, other.table, "silver.quiet"], NOW)
    assert {table: [one.run_id for one in runs] for table, runs in found.items()} == {
        TABLE: [holder.run_id],
        other.table: [other.run_id],
        "silver.quiet": [],
    }


def test_a_plan_whose_term_is_over_is_not_in_flight(ledger: Ledger, holder: RunRecord) -> None:
    assert ledger.runs_in_flight(TABLE, VALID_UNTIL) == ()


def test_the_days_of_a_run_come_back_as_they_were_planned(ledger: Ledger) -> None:
    scattered = PartitionSet.of_days([*january(1, 3), *january(9), *january(20, 31)])
    run = register(ledger, "scattered", scattered)
    assert (run.days, run.valid_until) == (scattered, VALID_UNTIL)


def test_a_candidate_holds_nothing_and_nobody_is_in_its_way(
    ledger: Ledger, holder: RunRecord
) -> None:
    register(ledger, "candidate", DAYS, publish_scope=PublishScope.DARK)
    move(ledger, holder.run_id, RunState.PLANNED, RunState.CANCELLED)
    assert register(ledger, "later", DAYS).state is RunState.PLANNED


def test_a_word_in_a_reason_makes_no_candidate(ledger: Ledger) -> None:
    said = '"publish_scope":"DARK"'
    text = canonical_json({"reason": said, "target": {"publish_scope": "WHOLE_RUN"}})
    assert not is_dark(text)
