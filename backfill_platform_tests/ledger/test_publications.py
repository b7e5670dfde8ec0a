"""Publications: intents that recovery can find, facts that are whole, and what is accepted."""

import dataclasses

import pytest
from sqlalchemy.exc import IntegrityError

from backfill_platform.domain.errors import LostRace, RunStopped, RunUnknown, TargetMoved
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import STOPPED, RunState
from backfill_platform.domain.runs import PublicationFact
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import (
    ALONG_THE_ROAD,
    NOW,
    TABLE,
    accepted_rows,
    after,
    intent,
    january,
    move,
    publish,
    register,
)

DAYS = january(1, 3)


@pytest.fixture
def first(ledger: Ledger) -> RunId:
    return register(ledger, "first").run_id


@pytest.fixture
def second(ledger: Ledger) -> RunId:
    return register(ledger, "second").run_id


@pytest.fixture
def third(ledger: Ledger) -> RunId:
    return register(ledger, "third").run_id


def current_runs(ledger: Ledger) -> list[RunId]:
    return [partition.run_id for partition in ledger.accepted(TABLE, DAYS).values()]


def finish(ledger: Ledger, run_id: RunId) -> None:
    move(ledger, run_id, *ALONG_THE_ROAD)


def test_an_intent_is_open_until_its_fact_is_known(ledger: Ledger, first: RunId) -> None:
    recorded = ledger.record_intent(intent(first, DAYS), now=NOW)
    assert (recorded.intent, recorded.intent_at) == (intent(first, DAYS), NOW)
    assert ledger.open_intents() == (recorded,)
    publish(ledger, first, DAYS, version=4)
    assert ledger.open_intents() == ()


def test_open_intents_are_found_by_run(ledger: Ledger, first: RunId, second: RunId) -> None:
    ledger.record_intent(intent(first, DAYS), now=NOW)
    other = ledger.record_intent(intent(second, DAYS), now=after(1))
    assert ledger.open_intents(second) == (other,)
    assert len(ledger.open_intents()) == 2


def test_the_same_intent_twice_equals_once(ledger: Ledger, first: RunId) -> None:
    recorded = ledger.record_intent(intent(first, DAYS), now=NOW)
    assert ledger.record_intent(intent(first, DAYS), now=after(5)) == recorded


def test_an_open_intent_may_not_change(ledger: Ledger, first: RunId) -> None:
    ledger.record_intent(intent(first, DAYS), now=NOW)
    changed = dataclasses.replace(intent(first, DAYS), files_count=99)
    with pytest.raises(TargetMoved, match="Recover it"):
        ledger.record_intent(changed, now=NOW)


def test_an_intent_that_was_given_up_may_be_taken_up_again(ledger: Ledger, first: RunId) -> None:
    publication_id = ledger.record_intent(intent(first, DAYS), now=NOW).intent.publication_id
    given_up = ledger.give_up_intent(publication_id, now=after(1))
    assert (given_up.outcome, given_up.fact_at) == (PublicationFact.GIVEN_UP, after(1))
    assert ledger.give_up_intent(publication_id, now=after(2)) == given_up
    changed = dataclasses.replace(intent(first, DAYS), files_count=99)
    assert ledger.record_intent(changed, now=after(3)).intent == changed
    assert len(ledger.open_intents()) == 1


def test_what_was_given_up_and_landed_after_all_is_a_fact(ledger: Ledger, first: RunId) -> None:
    publication_id = ledger.record_intent(intent(first, DAYS), now=NOW).intent.publication_id
    ledger.give_up_intent(publication_id, now=after(1))
    fact = ledger.record_fact(publication_id, version=4, accepted=accepted_rows(DAYS), now=after(2))
    assert (fact.outcome, fact.version, fact.fact_at) == (PublicationFact.LANDED, 4, after(2))
    assert current_runs(ledger) == [first, first, first]


def test_a_run_tells_all_its_publications(ledger: Ledger, first: RunId, second: RunId) -> None:
    ledger.record_intent(intent(second, DAYS), now=NOW)
    given_up = ledger.record_intent(intent(first, january(1)), now=NOW).intent.publication_id
    ledger.give_up_intent(given_up, now=after(1))
    landed = publish(ledger, first, january(2), version=4, now=after(2))
    told = {one.intent.publication_id: one.outcome for one in ledger.publications(first)}
    assert told == {given_up: PublicationFact.GIVEN_UP, landed: PublicationFact.LANDED}


def test_a_fact_makes_its_partitions_accepted(ledger: Ledger, first: RunId) -> None:
    publication_id = publish(ledger, first, DAYS, version=4, now=after(7))
    accepted = ledger.accepted(TABLE, DAYS)
    assert list(accepted) == list(DAYS)
    one = accepted[DAYS.start]
    assert (one.run_id, one.publication_id, one.target_version) == (first, publication_id, 4)
    assert (one.row_count, one.checksum, one.accepted_at) == (3, "rows", after(7))
    assert (one.superseded_at, one.superseded_by_run_id) == (None, None)


def test_the_same_fact_twice_equals_once(ledger: Ledger, first: RunId) -> None:
    publish(ledger, first, DAYS, version=4)
    before = ledger.accepted(TABLE, DAYS)
    publish(ledger, first, DAYS, version=4, now=after(60))
    assert ledger.accepted(TABLE, DAYS) == before


def test_another_fact_of_the_same_publication_is_refused(ledger: Ledger, first: RunId) -> None:
    publication_id = publish(ledger, first, DAYS, version=4)
    with pytest.raises(LostRace, match="LANDED, version 4"):
        ledger.record_fact(publication_id, version=5, accepted=accepted_rows(DAYS), now=NOW)
    with pytest.raises(LostRace, match="LANDED"):
        ledger.give_up_intent(publication_id, now=NOW)


def test_a_fact_without_intent_is_refused(ledger: Ledger) -> None:
    with pytest.raises(RunUnknown, match="record it first"):
        ledger.record_fact("nobody's", version=1, accepted=accepted_rows(DAYS), now=NOW)


def test_a_later_run_supersedes_only_the_partitions_it_publishes(
    ledger: Ledger, first: RunId, second: RunId
) -> None:
    publish(ledger, first, DAYS, version=1)
    publish(ledger, second, january(2), version=2, now=after(60))
    assert current_runs(ledger) == [first, second, first]
    former, current = ledger.accepted_history(TABLE, january(2).start)
    assert (former.run_id, former.superseded_at, former.superseded_by_run_id) == (
        first,
        after(60),
        second,
    )
    assert (current.run_id, current.superseded_at) == (second, None)


def test_a_fact_that_is_recorded_late_does_not_displace_a_newer_one(
    ledger: Ledger, first: RunId, second: RunId
) -> None:
    ledger.record_intent(intent(first, DAYS), now=NOW)
    publish(ledger, second, DAYS, version=2)
    publish(ledger, first, DAYS, version=1)
    assert current_runs(ledger) == [second, second, second]
    late, _ = ledger.accepted_history(TABLE, DAYS.start)
    assert (late.run_id, late.superseded_by_run_id) == (first, second)


def test_a_fact_that_cannot_be_written_whole_leaves_nothing(
    ledger: Ledger, first: RunId, second: RunId
) -> None:
    publish(ledger, first, DAYS, version=1)
    before = ledger.accepted(TABLE, DAYS)
    publication_id = ledger.record_intent(intent(second, DAYS), now=NOW).intent.publication_id
    broken = dataclasses.replace(accepted_rows(january(3))[0], checksum=None)  # type: ignore[arg-type]
    rows = (*accepted_rows(january(1, 2)), broken)
    with pytest.raises(IntegrityError):
        ledger.record_fact(publication_id, version=2, accepted=rows, now=NOW)
    assert ledger.accepted(TABLE, DAYS) == before
    assert [record.intent.run_id for record in ledger.open_intents()] == [second]


def test_a_fact_about_other_days_than_intended_is_refused(ledger: Ledger, first: RunId) -> None:
    publication_id = ledger.record_intent(intent(first, DAYS), now=NOW).intent.publication_id
    with pytest.raises(ValueError, match="was intended for"):
        ledger.record_fact(
            publication_id, version=1, accepted=accepted_rows(january(1, 2)), now=NOW
        )


def test_a_published_run_without_accepted_partitions_is_found(
    ledger: Ledger, first: RunId, second: RunId
) -> None:
    publish(ledger, first, DAYS, version=1)
    finish(ledger, first)
    publish(ledger, second, january(1, 2), version=2)
    assert ledger.replaced_runs(TABLE) == {}
    publish(ledger, second, january(3), version=3)
    assert ledger.replaced_runs(TABLE) == {first: second}


def test_who_took_the_last_partition_replaced_a_run(
    ledger: Ledger, first: RunId, second: RunId, third: RunId
) -> None:
    publish(ledger, first, DAYS, version=1)
    finish(ledger, first)
    publish(ledger, third, january(1), version=2)
    publish(ledger, second, january(2, 3), version=3)
    publish(ledger, third, january(7), version=4)
    assert ledger.replaced_runs(TABLE) == {first: second}


def test_who_took_the_last_partition_is_known_also_when_it_is_recorded_late(
    ledger: Ledger, first: RunId, second: RunId, third: RunId
) -> None:
    ledger.record_intent(intent(first, DAYS), now=NOW)
    publish(ledger, third, january(1), version=3)
    publish(ledger, second, january(2, 3), version=2)
    publish(ledger, first, DAYS, version=1)
    finish(ledger, first)
    assert ledger.replaced_runs(TABLE) == {first: third}


def test_a_published_run_that_never_changed_anything_is_not_superseded(
    ledger: Ledger, first: RunId
) -> None:
    finish(ledger, first)
    assert ledger.replaced_runs(TABLE) == {}


def test_a_superseded_run_names_its_successor(ledger: Ledger, first: RunId, second: RunId) -> None:
    finish(ledger, first)
    ledger.move(
        first,
        RunState.PUBLISHED,
        RunState.SUPERSEDED,
        actor="ana",
        cause="replaced",
        details={},
        now=NOW,
        superseded_by=second,
    )
    assert ledger.run(first).superseded_by_run_id == second


@pytest.mark.parametrize("state", sorted(STOPPED))
def test_nothing_of_a_stopped_run_is_published(
    ledger: Ledger, first: RunId, state: RunState
) -> None:
    move(ledger, first, RunState.PLANNED, state)
    with pytest.raises(RunStopped, match=f"is {state}"):
        ledger.record_intent(intent(first, DAYS), now=NOW)
    assert ledger.open_intents() == ()
