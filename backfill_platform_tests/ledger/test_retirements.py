"""Retirements: the intention before the first file goes, one at a time, and the fact once."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from backfill_platform.domain.errors import LostRace, RunUnknown
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.retirements import (
    FoundFile,
    Retention,
    RetiredPart,
    RetirementIntent,
    RetirementReason,
    RetirementRecord,
)
from backfill_platform.ledger.database import make_engine, opened, writing
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import NOW, TABLE, after, register
from backfill_platform_tests.racing import run_together

FILE = FoundFile(path="runs/r/day=2025-01-05/part-0.parquet", size_bytes=10)
PART = RetiredPart(
    run_id=RunId("r"),
    reason=RetirementReason.SUPERSEDED,
    files=(FILE,),
    possible_until=NOW,
)
INTENT = RetirementIntent(
    table=TABLE,
    actor="ana",
    retention=Retention(abandoned_after_days=7, superseded_after_days=30),
    policy_digest="d" * 64,
    target_version=3,
    parts=(PART,),
    ends={},
)


def intend(ledger: Ledger, intent: RetirementIntent = INTENT) -> RetirementRecord:
    mark = ledger.retirement_mark(TABLE)
    return ledger.intend_retirement(intent, mark=mark, now=NOW)


def fail(ledger: Ledger, run_id: RunId) -> None:
    road = (RunState.PLANNED, RunState.APPROVED, RunState.STAGING, RunState.FAILED)
    said: dict[str, Any] = {"actor": "ana", "cause": "tests", "details": {}, "now": NOW}
    ledger.move(run_id, road[0], road[1], **said)
    ledger.move(run_id, road[1], road[2], **said)
    ledger.move(run_id, road[2], road[3], **said)


def test_what_is_intended_is_read_as_it_was_written(ledger: Ledger) -> None:
    record = intend(ledger)
    assert record == RetirementRecord(
        retirement_id=f"{TABLE}/retirement-1", intent=INTENT, intended_at=NOW, finished_at=None
    )
    assert ledger.retirements(TABLE) == (record,)


def test_those_of_another_table_are_not_among_them(ledger: Ledger) -> None:
    intend(ledger)
    assert ledger.retirements("gold.other") == ()


def test_the_fact_says_what_stayed_after_all(ledger: Ledger) -> None:
    record = intend(ledger)
    done = ledger.finish_retirement(record.retirement_id, spared=(FILE.path,), now=after(5))
    assert (done.finished_at, done.spared, done.retired) == (after(5), (FILE.path,), frozenset())


def test_of_two_that_finish_it_the_first_says_how_it_ended(ledger: Ledger) -> None:
    record = intend(ledger)
    first = ledger.finish_retirement(record.retirement_id, spared=(), now=after(5))
    second = ledger.finish_retirement(record.retirement_id, spared=(FILE.path,), now=after(6))
    assert second == first


def test_what_was_never_intended_cannot_be_finished(ledger: Ledger) -> None:
    with pytest.raises(RunUnknown, match="retirement-1"):
        ledger.finish_retirement(f"{TABLE}/retirement-1", spared=(), now=NOW)


def test_a_second_one_waits_until_the_first_is_finished(ledger: Ledger) -> None:
    intend(ledger)
    with pytest.raises(LostRace, match="retirement-1 is not finished"):
        intend(ledger)


def test_the_next_one_has_the_next_number(ledger: Ledger) -> None:
    ledger.finish_retirement(intend(ledger).retirement_id, spared=(), now=NOW)
    assert intend(ledger).retirement_id == f"{TABLE}/retirement-2"


def test_nothing_is_intended_when_a_run_was_planned_since_the_look(ledger: Ledger) -> None:
    mark = ledger.retirement_mark(TABLE)
    register(ledger)
    with pytest.raises(LostRace, match="was planned"):
        ledger.intend_retirement(INTENT, mark=mark, now=NOW)
    assert ledger.retirements(TABLE) == ()


def test_runs_of_another_table_are_in_nobodys_way(ledger: Ledger) -> None:
    mark = ledger.retirement_mark(TABLE)
    register(ledger, table="gold.other")
    assert ledger.intend_retirement(INTENT, mark=mark, now=NOW).finished_at is None


def test_the_runs_that_it_names_end_with_it(ledger: Ledger) -> None:
    run_id = register(ledger).run_id
    fail(ledger, run_id)
    record = intend(ledger, replace(INTENT, ends={run_id: RunState.FAILED}))
    event = ledger.events(run_id)[-1]
    assert (event.to_state, event.actor) == (RunState.EXPIRED, "ana")
    assert event.details == {"retirement": record.retirement_id}


def test_a_run_that_was_taken_up_since_does_not_end_and_nothing_is_intended(
    ledger: Ledger,
) -> None:
    run_id = register(ledger).run_id
    fail(ledger, run_id)
    mark = ledger.retirement_mark(TABLE)
    said: dict[str, Any] = {"actor": "ana", "cause": "tests", "details": {}, "now": NOW}
    ledger.move(run_id, RunState.FAILED, RunState.STAGING, **said)
    ends = replace(INTENT, ends={run_id: RunState.FAILED})
    with pytest.raises(LostRace, match="has just become STAGING"):
        ledger.intend_retirement(ends, mark=mark, now=NOW)
    assert (ledger.retirements(TABLE), ledger.run(run_id).state) == ((), RunState.STAGING)


def test_nobody_plans_holds_only_what_was_seen(ledger: Ledger) -> None:
    mark = ledger.retirement_mark(TABLE)
    register(ledger)
    with pytest.raises(LostRace), ledger.nobody_plans(TABLE, mark=mark, now=NOW):
        raise AssertionError("is never entered")


def intend_in_a_process(url: str) -> str:
    ledger = Ledger.open(url)
    try:
        return intend(ledger).retirement_id
    except LostRace:
        return "lost"
    finally:
        ledger.close()


def test_of_processes_that_intend_together_one_does(ledger_url: str) -> None:
    outcomes = run_together([partial(intend_in_a_process, ledger_url)] * 3)
    assert sorted(outcomes) == ["lost", "lost", f"{TABLE}/retirement-1"]


@pytest.fixture
def engine(ledger_url: str) -> Iterator[sa.Engine]:
    engine = make_engine(ledger_url)
    yield engine
    engine.dispose()


def execute(engine: sa.Engine, statement: str) -> None:
    with writing(engine) as connection:
        connection.execute(sa.text(statement))


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM retirement",
        "UPDATE retirement SET actor = 'other'",
        "UPDATE retirement SET intent = '{}'",
        "UPDATE retirement SET policy_digest = 'other'",
        "UPDATE retirement SET intended_at = '2020-01-01'",
        "UPDATE retirement SET table_name = 'other'",
        "UPDATE retirement SET finished_at = '2020-01-01'",
    ],
)
def test_the_database_keeps_what_was_intended(
    ledger: Ledger, engine: sa.Engine, statement: str
) -> None:
    intend(ledger)
    with pytest.raises(IntegrityError):
        execute(engine, statement)


@pytest.mark.parametrize("statement", ["spared = '[]'", "finished_at = NULL, spared = NULL"])
def test_the_database_lets_a_retirement_end_once(
    ledger: Ledger, engine: sa.Engine, statement: str
) -> None:
    ledger.finish_retirement(intend(ledger).retirement_id, spared=(), now=NOW)
    with pytest.raises(IntegrityError, match="it has ended"):
        execute(engine, f"UPDATE retirement SET {statement}")


def test_sqlite_refuses_to_replace_a_retirement(sqlite_url: str) -> None:
    intend(Ledger.open(sqlite_url))
    forged = (
        "REPLACE INTO retirement (retirement_id, table_name, number, actor, policy_digest, "
        "intended_at, intent) SELECT retirement_id, table_name, number, 'mallory', policy_digest, "
        "intended_at, '{}' FROM retirement"
    )
    with opened(sqlite_url) as engine, pytest.raises(IntegrityError, match="are kept"):
        execute(engine, forged)


def test_postgresql_refuses_to_truncate_retirements(postgresql_url: str) -> None:
    with opened(postgresql_url) as engine, pytest.raises(IntegrityError, match="are kept"):
        execute(engine, "TRUNCATE retirement")
