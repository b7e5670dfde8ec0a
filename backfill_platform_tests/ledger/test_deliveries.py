"""What is to be told is intended once and told once, on every database."""

from contextlib import closing
from dataclasses import replace

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from backfill_platform.domain.announcements import Delivered, Delivery
from backfill_platform.domain.errors import RunUnknown
from backfill_platform.domain.identity import RunId
from backfill_platform.ledger.database import opened, writing
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import NOW, after, january, publish, register

TOLD = Delivered(ends={0: 12, 1: 7}, was_there=False)


@pytest.fixture
def run_id(ledger: Ledger) -> RunId:
    return register(ledger).run_id


@pytest.fixture
def intended(ledger: Ledger, run_id: RunId) -> Delivery:
    landed = publish(ledger, run_id, january(1, 3), version=4)
    return Delivery(delivery_id=landed, topic="corrections", events_count=9, starts={0: 10, 1: 0})


def test_an_intent_comes_back_as_it_was_and_is_not_told(ledger, run_id, intended) -> None:
    ledger.intend_delivery(run_id, intended, now=NOW)
    (record,) = ledger.deliveries(run_id)
    assert (record.delivery, record.intended_at, record.told_at) == (intended, NOW, None)


def test_the_first_intent_of_a_delivery_stays(ledger, run_id, intended) -> None:
    ledger.intend_delivery(run_id, intended, now=NOW)
    later = replace(intended, starts={0: 99, 1: 99})
    assert ledger.intend_delivery(run_id, later, now=after(60)).delivery == intended


def test_what_was_told_was_told_at_its_first_time(ledger, run_id, intended) -> None:
    ledger.intend_delivery(run_id, intended, now=NOW)
    ledger.record_told(intended.delivery_id, TOLD, now=after(1))
    ledger.record_told(intended.delivery_id, replace(TOLD, ends={}), now=after(2))
    assert ledger.deliveries(run_id)[0].told_at == after(1)


def test_nothing_is_told_that_was_not_intended(ledger, intended) -> None:
    with pytest.raises(RunUnknown, match="No intent to tell"):
        ledger.record_told(intended.delivery_id, TOLD, now=NOW)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM delivery",
        "UPDATE delivery SET starts = '{}'",
        "UPDATE delivery SET events_count = 0",
        "UPDATE delivery SET told_at = NULL, ends = NULL",
    ],
)
def test_the_database_keeps_what_was_intended_and_told(ledger_url: str, statement: str) -> None:
    with closing(Ledger.open(ledger_url)) as ledger:
        run_id = register(ledger).run_id
        landed = publish(ledger, run_id, january(1, 3), version=4)
        known = Delivery(delivery_id=landed, topic="t", events_count=9, starts={0: 10})
        ledger.intend_delivery(run_id, known, now=NOW)
        ledger.record_told(landed, TOLD, now=NOW)
    with opened(ledger_url) as engine, pytest.raises(IntegrityError), writing(engine) as connection:
        connection.execute(sa.text(statement))
