"""The chain of events: whatever is changed behind the ledger's back is found."""

import pytest

from backfill_platform.domain.lifecycle import RunState
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import move, register
from backfill_platform_tests.ledger.tampering import tamper


@pytest.fixture
def ledger_with_three_events(ledger: Ledger) -> Ledger:
    run = register(ledger)
    move(ledger, run.run_id, RunState.PLANNED, RunState.APPROVED, RunState.STAGING)
    return ledger


def first_broken(ledger: Ledger) -> int | None:
    return ledger.verify_events(ledger.runs()[0].run_id)


def test_untouched_events_are_trusted(ledger_with_three_events: Ledger) -> None:
    assert first_broken(ledger_with_three_events) is None


@pytest.mark.parametrize("seq", [1, 2, 3])
@pytest.mark.parametrize(
    "change",
    [
        "actor = 'mallory'",
        "cause = 'other'",
        "at = '2020-01-01 00:00:00.000000'",
        "to_state = 'PUBLISHED'",
        "from_state = 'FAILED'",
        'details = \'{"manifest_digest":"other"}\'',
        "previous_hash = 'other'",
        "hash = 'other'",
    ],
)
def test_any_tampered_column_is_found(
    ledger_with_three_events: Ledger, ledger_url: str, change: str, seq: int
) -> None:
    tamper(ledger_url, f"UPDATE run_event SET {change} WHERE seq = :seq", seq=seq)
    assert first_broken(ledger_with_three_events) == seq


@pytest.mark.parametrize(("seq", "broken"), [(1, 1), (2, 2), (3, 3)])
def test_an_event_that_is_taken_out_is_missed(
    ledger_with_three_events: Ledger, ledger_url: str, seq: int, broken: int
) -> None:
    tamper(ledger_url, "DELETE FROM run_event WHERE seq = :seq", seq=seq)
    assert first_broken(ledger_with_three_events) == broken


def test_a_state_without_its_event_is_found(
    ledger_with_three_events: Ledger, ledger_url: str
) -> None:
    tamper(ledger_url, "UPDATE run SET state = 'PUBLISHED'")
    assert first_broken(ledger_with_three_events) == 4


def test_another_manifest_digest_is_found(
    ledger_with_three_events: Ledger, ledger_url: str
) -> None:
    tamper(ledger_url, "UPDATE run SET manifest_digest = 'other'")
    assert first_broken(ledger_with_three_events) == 1
