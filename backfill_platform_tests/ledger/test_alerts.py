"""Alerts are opened once, told again under guard, and resolved, on every database."""

from contextlib import closing
from functools import partial

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from backfill_platform.domain.alerts import AlertEvent, AlertRecord, AlertRound, AlertState
from backfill_platform.ledger.alert_book import AlertBook
from backfill_platform.ledger.database import opened, writing
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.alert_samples import alert, following, opening
from backfill_platform_tests.ledger.samples import NOW, after
from backfill_platform_tests.racing import run_together

E = AlertEvent


@pytest.fixture
def book(ledger: Ledger) -> AlertBook:
    return ledger.alerts


def only(book: AlertBook) -> AlertRecord:
    (record,) = book.open_alerts()
    return record


def look_and_record(url: str) -> int:
    with closing(Ledger.open(url)) as ledger:
        return len(ledger.alerts.record_round(opening(alert()), now=NOW))


def test_what_is_opened_comes_back_as_it_was(book: AlertBook) -> None:
    book.record_round(opening(alert(), channels=("log", "chat")), now=NOW)
    assert only(book) == AlertRecord(
        alert=alert(),
        digest=alert().digest,
        opened_at=NOW,
        seen_at=NOW,
        told_at=NOW,
        resolved_at=None,
        channels=("chat", "log"),
    )


def test_who_opens_it_again_tells_nothing(book: AlertBook) -> None:
    book.record_round(opening(alert()), now=NOW)
    assert book.record_round(opening(alert(), at=after(1)), now=after(1)) == ()
    assert len(book.open_alerts()) == 1


def test_of_two_that_look_at_once_one_tells(ledger_url: str) -> None:
    assert sorted(run_together([partial(look_and_record, ledger_url)] * 3)) == [0, 0, 1]


def test_what_is_told_again_says_what_it_says_now(book: AlertBook) -> None:
    book.record_round(opening(alert()), now=NOW)
    other = alert(message="out of memory; give it more")
    book.record_round(following(E.CHANGED, other), now=after(60))
    record = only(book)
    assert (record.alert, record.opened_at, record.told_at) == (other, NOW, after(60))


def test_a_reminder_that_somebody_else_has_sent_is_not_sent(book: AlertBook) -> None:
    book.record_round(opening(alert()), now=NOW)
    book.record_round(following(E.REMINDED, alert()), now=after(60))
    assert book.record_round(following(E.REMINDED, alert()), now=after(61)) == ()


def test_what_is_resolved_is_open_no_more(book: AlertBook) -> None:
    book.record_round(opening(alert(), alert("bf-2")), now=NOW)
    book.record_round(following(E.RESOLVED, alert()), now=after(60))
    assert only(book).alert.subject == "bf-2"
    (resolved,) = book.resolved_alerts()
    assert (resolved.state, resolved.resolved_at) == (AlertState.RESOLVED, after(60))


def test_an_end_does_not_change_what_was_told(book: AlertBook) -> None:
    book.record_round(opening(alert()), now=NOW)
    book.record_round(following(E.RESOLVED, alert(message="it is over")), now=after(60))
    assert book.resolved_alerts()[0].alert == alert()


def test_what_is_resolved_is_resolved_once(book: AlertBook) -> None:
    book.record_round(opening(alert()), now=NOW)
    book.record_round(following(E.RESOLVED, alert()), now=after(60))
    assert book.record_round(following(E.RESOLVED, alert()), now=after(61)) == ()


def test_what_comes_back_is_opened_again(book: AlertBook) -> None:
    book.record_round(opening(alert()), now=NOW)
    book.record_round(following(E.RESOLVED, alert()), now=after(60))
    book.record_round(opening(alert(), at=after(120)), now=after(120))
    assert only(book).opened_at == after(120)
    assert len(book.resolved_alerts()) == 1


def test_what_is_seen_is_marked_and_nothing_else(book: AlertBook) -> None:
    book.record_round(opening(alert(), alert("bf-2")), now=NOW)
    book.record_round(AlertRound(changes=(), seen=(alert().key,)), now=after(300))
    assert [record.seen_at for record in book.open_alerts()] == [after(300), NOW]
    assert {record.told_at for record in book.open_alerts()} == {NOW}


def test_many_are_opened_and_read_at_once(book: AlertBook) -> None:
    book.record_round(opening(*(alert(f"bf-{number}") for number in range(2_500))), now=NOW)
    assert {record.channels for record in book.open_alerts()} == {("log",)}
    assert len(book.open_alerts()) == 2_500


def test_the_database_refuses_to_open_an_alert_twice(ledger_url: str) -> None:
    with closing(Ledger.open(ledger_url)) as ledger:
        ledger.alerts.record_round(opening(alert()), now=NOW)
    again = (
        "INSERT INTO alert SELECT alert_key, '2027-01-01 00:00:00+00:00', kind, subject, "
        "table_name, severity, digest, title, message, seen_at, told_at, resolved_at FROM alert"
    )
    with opened(ledger_url) as engine, pytest.raises(IntegrityError), writing(engine) as connection:
        connection.execute(sa.text(again))
