"""What watchers ask: bounded answers in a stable order, read from indexes."""

import dataclasses

import pytest
from sqlalchemy import event

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.modes import ExecutionMode, PublishScope
from backfill_platform.domain.runs import LandedPosition
from backfill_platform.ledger.database import make_engine
from backfill_platform.ledger.migrate import migrate
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import (
    ALONG_THE_ROAD,
    NOW,
    VALID_UNTIL,
    after,
    claimed,
    intent,
    january,
    move,
    publish,
    register,
)

S = RunState
TO_VALIDATED = ALONG_THE_ROAD[:5]
BEGINNING = LandedPosition(fact_at=NOW, publication_id="")


def planned(ledger: Ledger, origin: str, **said) -> RunId:
    return register(ledger, origin, **said).run_id


def ids(records) -> list[RunId]:
    return [record.run_id for record in records]


def landed(ledger: Ledger, position: LandedPosition = BEGINNING, limit: int = 10) -> list[str]:
    found = ledger.landed_since(position, until=after(100), limit=limit)
    return [one.intent.publication_id for one in found]


def test_runs_are_found_by_where_they_stand_the_oldest_first(ledger: Ledger) -> None:
    first, second, _ = (planned(ledger, name) for name in "abc")
    move(ledger, second, *TO_VALIDATED)
    move(ledger, first, *TO_VALIDATED)
    assert ids(ledger.runs_at({S.VALIDATED}, limit=10)) == [first, second]
    assert ids(ledger.runs_at({S.VALIDATED}, limit=1)) == [first]


def test_runs_are_found_by_when_they_came_there(ledger: Ledger) -> None:
    early, late = planned(ledger, "a", now=after(1)), planned(ledger, "b", now=after(5))
    assert ids(ledger.runs_at({S.PLANNED}, since=after(1), limit=10)) == [late]
    assert ids(ledger.runs_at({S.PLANNED}, until=after(1), limit=10)) == [early]


def test_runs_are_found_by_how_they_were_launched(ledger: Ledger) -> None:
    followed, _ = planned(ledger, "follow:x/1:t"), planned(ledger, "follow-up")
    assert ids(ledger.runs_at({S.PLANNED}, launched_as="follow:", limit=10)) == [followed]


def test_only_plans_that_nobody_began_are_overdue(ledger: Ledger) -> None:
    waiting, begun = planned(ledger, "a"), planned(ledger, "b")
    move(ledger, begun, *TO_VALIDATED)
    assert ids(ledger.overdue_runs(VALID_UNTIL, limit=10)) == [waiting]
    assert ledger.overdue_runs(NOW, limit=10) == ()


def test_what_is_never_published_does_not_stand_before_publication(ledger: Ledger) -> None:
    meant = planned(ledger, "a")
    looked_at = planned(ledger, "b", mode=ExecutionMode.DRY_RUN)
    candidate = planned(ledger, "c", publish_scope=PublishScope.DARK)
    for run_id in (meant, looked_at, candidate):
        move(ledger, run_id, *TO_VALIDATED)
    assert ids(ledger.publishable_runs(limit=10)) == [meant]


def test_a_run_is_abandoned_once_the_lease_of_a_chunk_has_ended(ledger: Ledger) -> None:
    run_id = planned(ledger, "a", days=january(1, 2))
    move(ledger, run_id, *ALONG_THE_ROAD[:3])
    claimed(ledger, run_id, january(1, 2))
    assert ledger.abandoned_runs(after(59), limit=10) == ()
    assert ledger.abandoned_runs(after(60), limit=10) == (run_id,)


def test_a_run_is_abandoned_while_the_outcome_of_a_publication_is_open(ledger: Ledger) -> None:
    run_id = planned(ledger, "a")
    ledger.record_intent(intent(run_id, january(1)), now=NOW)
    assert ledger.abandoned_runs(NOW, limit=10) == (run_id,)
    publish(ledger, run_id, january(1), version=1)
    assert ledger.abandoned_runs(NOW, limit=10) == ()


def test_what_has_landed_is_read_on_from_a_position_between_equal_instants(
    ledger: Ledger,
) -> None:
    run_id = planned(ledger, "a")
    names = [publish(ledger, run_id, january(day), day, now=after(1)) for day in (1, 2, 3)]
    assert landed(ledger) == names
    position = LandedPosition(fact_at=after(1), publication_id=names[0])
    assert landed(ledger, position) == names[1:]
    assert landed(ledger, dataclasses.replace(position, publication_id=names[2])) == []


def test_what_has_not_landed_or_is_too_new_is_not_read(ledger: Ledger) -> None:
    run_id = planned(ledger, "a")
    given_up = ledger.record_intent(intent(run_id, january(1)), now=NOW).intent.publication_id
    ledger.give_up_intent(given_up, now=after(1))
    publish(ledger, run_id, january(2), version=1, now=after(200))
    assert landed(ledger) == []


@pytest.fixture
def plans(tmp_path):
    """How SQLite carries out every SELECT of a ledger."""
    url = f"sqlite:///{tmp_path}/watched.db"
    migrate(url)
    engine, found = make_engine(url), []

    @event.listens_for(engine, "before_cursor_execute")
    def explain(_connection, cursor, statement, parameters, _context, _many) -> None:
        if statement.startswith("SELECT"):
            told = cursor.connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
            found.extend(row[3] for row in told)

    yield Ledger(engine), found
    engine.dispose()


@pytest.mark.parametrize(
    "look",
    [
        lambda ledger: ledger.runs_at({S.STAGING, S.FAILED}, since=NOW, limit=5),
        lambda ledger: ledger.overdue_runs(NOW, limit=5),
        lambda ledger: ledger.publishable_runs(limit=5),
        lambda ledger: ledger.abandoned_runs(NOW, limit=5),
        lambda ledger: ledger.landed_since(BEGINNING, until=NOW, limit=5),
    ],
)
def test_a_look_reads_an_index_and_not_every_run(plans, look) -> None:
    ledger, told = plans
    look(ledger)
    assert told
    assert [step for step in told if step.startswith("SCAN")] == []


def test_the_newest_runs_are_listed_without_sorting_all_that_ever_were(plans) -> None:
    ledger, told = plans
    ledger.runs(limit=5)
    assert told
    assert [step for step in told if "TEMP B-TREE" in step] == []


def test_what_changed_lately_is_told_without_a_look_at_what_did_not(plans) -> None:
    ledger, told = plans
    ledger.changes_since(NOW)
    assert told
    assert [step for step in told if step.startswith("SCAN")] == []
