"""Facts about years of days, in one piece or with gaps: whole, and in a few statements."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta

import pytest
import sqlalchemy as sa

from backfill_platform.domain.identity import RunId
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.runs import PublicationIntent
from backfill_platform.ledger.database import make_engine
from backfill_platform.ledger.day_sets import MOST_DAYS
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import (
    NOW,
    TABLE,
    accepted_rows,
    after,
    intent,
    january,
    judged,
    measured,
    register,
    stage_and_validate,
)
from backfill_platform_tests.ledger.statements import statements

YEARS = DayRange(date(2000, 1, 1), date(2000, 1, 1) + timedelta(days=3_650))
WITH_GAPS = tuple(date(1900, 1, 1) + timedelta(days=2 * place) for place in range(MOST_DAYS + 10))


@pytest.fixture
def engine(ledger_url: str) -> Iterator[sa.Engine]:
    engine = make_engine(ledger_url)
    yield engine
    engine.dispose()


@pytest.fixture
def ledger(engine: sa.Engine) -> Ledger:
    return Ledger(engine)


@pytest.fixture
def runs(ledger: Ledger) -> tuple[RunId, RunId]:
    return register(ledger, "first").run_id, register(ledger, "second").run_id


def on(run_id: RunId, days: tuple[date, ...]) -> PublicationIntent:
    return replace(intent(run_id, january(1)), days=days, base={})


def publish(ledger: Ledger, run_id: RunId, days: tuple[date, ...], version: int) -> None:
    publication_id = ledger.record_intent(on(run_id, days), now=NOW).intent.publication_id
    ledger.record_fact(
        publication_id, version=version, accepted=accepted_rows(days), now=after(version)
    )


@pytest.mark.parametrize("days", [tuple(YEARS), WITH_GAPS], ids=["years", "with gaps"])
def test_a_fact_takes_a_few_statements(
    ledger: Ledger, engine: sa.Engine, runs: tuple[RunId, RunId], days: tuple[date, ...]
) -> None:
    publish(ledger, runs[0], days, version=1)
    with statements(engine) as seen:
        publish(ledger, runs[1], days, version=2)
    assert len(seen) < 20


def test_a_fact_about_days_with_gaps_changes_those_and_no_others(
    ledger: Ledger, runs: tuple[RunId, RunId]
) -> None:
    between = tuple(day + timedelta(days=1) for day in WITH_GAPS)
    publish(ledger, runs[0], WITH_GAPS + between, version=1)
    publish(ledger, runs[1], WITH_GAPS, version=2)
    accepted = ledger.accepted(TABLE, WITH_GAPS + between)
    assert list(accepted) == sorted(WITH_GAPS + between)
    assert {accepted[day].run_id for day in WITH_GAPS} == {runs[1]}
    assert {accepted[day].run_id for day in between} == {runs[0]}


def test_a_late_fact_displaces_nothing_on_the_days_that_have_a_newer_one(
    ledger: Ledger, runs: tuple[RunId, RunId]
) -> None:
    newer = WITH_GAPS[::2]
    publish(ledger, runs[1], newer, version=2)
    publish(ledger, runs[0], WITH_GAPS, version=1)
    accepted = ledger.accepted(TABLE, WITH_GAPS)
    assert {day for day, now in accepted.items() if now.run_id == runs[1]} == set(newer)
    assert {accepted[day].run_id for day in WITH_GAPS[1::2]} == {runs[0]}


def test_histories_of_many_days_are_read_at_once(
    ledger: Ledger, engine: sa.Engine, runs: tuple[RunId, RunId]
) -> None:
    publish(ledger, runs[0], WITH_GAPS, version=1)
    publish(ledger, runs[1], WITH_GAPS[:3], version=2)
    with statements(engine) as seen:
        histories = ledger.accepted_histories(TABLE, [date(1899, 1, 1), *WITH_GAPS])
    assert len([one for one in seen if one.startswith("SELECT accepted")]) == 2
    assert list(histories) == list(WITH_GAPS)
    assert [one.run_id for one in histories[WITH_GAPS[0]]] == list(runs)
    assert histories[WITH_GAPS[4]] == ledger.accepted_history(TABLE, WITH_GAPS[4])


def test_no_days_have_no_history_and_nothing_is_accepted_on_them(ledger: Ledger) -> None:
    assert (ledger.accepted_histories(TABLE, []), ledger.accepted(TABLE, [])) == ({}, {})


def test_years_are_measured_and_judged_in_one_chunk(ledger: Ledger) -> None:
    run_id = register(ledger, "years", YEARS).run_id
    stage_and_validate(ledger, run_id, YEARS)
    assert ledger.measurements(run_id, tuple(YEARS)[::2]) == measured(tuple(YEARS)[::2])
    assert ledger.verdicts(run_id, YEARS) == judged(YEARS)
