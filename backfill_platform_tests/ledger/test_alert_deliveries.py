"""Messages wait until they are delivered, in order, and one worker sends each of them."""

from contextlib import closing
from datetime import datetime
from functools import partial

import pytest

from backfill_platform.domain.alerts import AlertDelivery, AlertEvent
from backfill_platform.ledger.alert_book import AlertBook
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.alert_samples import alert, following, opening
from backfill_platform_tests.ledger.samples import NOW, after
from backfill_platform_tests.racing import run_together

E = AlertEvent


@pytest.fixture
def book(ledger: Ledger) -> AlertBook:
    return ledger.alerts


def due(
    book: AlertBook, now: datetime = NOW, *, without: tuple[str, ...] = ()
) -> tuple[AlertDelivery, ...]:
    return book.due_deliveries(now, most_attempts=3, without=without, limit=10)


def events(deliveries: tuple[AlertDelivery, ...]) -> list[AlertEvent]:
    return [one.notice.event for one in deliveries]


def test_each_channel_gets_a_message_of_its_own(book: AlertBook) -> None:
    book.record_round(opening(alert(), channels=("chat", "log")), now=NOW)
    waiting = due(book)
    assert {one.notice.channel for one in waiting} == {"chat", "log"}
    assert len({one.notice.delivery_id for one in waiting}) == 2


def test_a_message_says_what_was_said_when_it_was_recorded(book: AlertBook) -> None:
    book.record_round(opening(alert()), now=NOW)
    book.record_round(following(E.CHANGED, alert(message="otherwise")), now=after(60))
    assert due(book, after(60))[0].notice.alert == alert()


def test_what_is_claimed_is_not_due_until_the_claim_ends(book: AlertBook) -> None:
    book.record_round(opening(alert()), now=NOW)
    assert book.claim_delivery(due(book)[0], until=after(60))
    assert due(book, after(59)) == ()
    assert due(book, after(60))[0].attempts == 1


def test_an_id_stays_however_often_it_is_claimed(book: AlertBook) -> None:
    book.record_round(opening(alert()), now=NOW)
    (first,) = due(book)
    book.claim_delivery(first, until=after(60))
    (second,) = due(book, after(60))
    assert first.notice.delivery_id == second.notice.delivery_id


def test_of_two_workers_one_claims_a_message(ledger_url: str) -> None:
    with closing(Ledger.open(ledger_url)) as ledger:
        ledger.alerts.record_round(opening(alert()), now=NOW)
        seen = due(ledger.alerts)[0]
        claims = [partial(_claim_seen, ledger_url, seen)] * 3
    assert sorted(run_together(claims)) == [False, False, True]


def _claim_seen(url: str, seen: AlertDelivery) -> bool:
    with closing(Ledger.open(url)) as ledger:
        return ledger.alerts.claim_delivery(seen, until=after(60))


def test_what_is_delivered_is_due_no_more(book: AlertBook) -> None:
    book.record_round(opening(alert()), now=NOW)
    (first,) = due(book)
    book.record_delivered(first.notice.delivery_id, now=after(1))
    assert due(book, after(9_999)) == ()
    assert book.deliveries_of(book.open_alerts())[0].delivered_at == after(1)


def test_what_was_delivered_has_not_failed_afterwards(book: AlertBook) -> None:
    book.record_round(opening(alert()), now=NOW)
    (first,) = due(book)
    book.record_delivered(first.notice.delivery_id, now=after(1))
    book.record_failed(first.notice.delivery_id, error="too late")
    assert book.undelivered() == ()


def test_an_end_is_not_told_before_its_beginning(book: AlertBook) -> None:
    book.record_round(opening(alert()), now=NOW)
    book.record_round(following(E.RESOLVED, alert()), now=after(60))
    (first,) = due(book, after(60))
    book.claim_delivery(first, until=after(3_600))
    assert due(book, after(120)) == ()


def test_once_the_beginning_is_told_the_end_is_due(book: AlertBook) -> None:
    book.record_round(opening(alert()), now=NOW)
    book.record_round(following(E.RESOLVED, alert()), now=after(60))
    book.record_delivered(due(book)[0].notice.delivery_id, now=after(1))
    assert events(due(book, after(60))) == [E.RESOLVED]


def test_what_was_given_up_holds_up_nothing(book: AlertBook) -> None:
    book.record_round(opening(alert()), now=NOW)
    book.record_round(following(E.RESOLVED, alert()), now=after(60))
    (first,) = due(book)
    for attempts in range(3):
        book.claim_delivery(_after(first, attempts), until=after(61 + attempts))
    book.record_failed(first.notice.delivery_id, error="gone")
    assert events(due(book, after(120))) == [E.RESOLVED]
    assert [one.error for one in book.undelivered()] == ["gone"]
    assert book.count_waiting(most_attempts=3) == 1


def _after(delivery: AlertDelivery, attempts: int) -> AlertDelivery:
    return AlertDelivery(
        notice=delivery.notice,
        attempts=attempts,
        next_attempt_at=delivery.next_attempt_at,
        delivered_at=None,
        error="",
    )


def test_a_channel_that_rests_does_not_take_the_place_of_others(book: AlertBook) -> None:
    many = [alert(f"bf-{number}") for number in range(20)]
    book.record_round(opening(*many, channels=("dead",)), now=NOW)
    book.record_round(opening(alert("last"), channels=("log",)), now=after(1))
    assert [one.notice.channel for one in due(book, after(1), without=("dead",))] == ["log"]
