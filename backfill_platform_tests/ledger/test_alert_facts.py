"""How runs stand that somebody may have to hear of: found on every database, by indexes alone."""

from contextlib import closing
from dataclasses import replace
from datetime import datetime

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from backfill_platform.domain.approvals import Decision
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.modes import ExecutionMode, PublishScope
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.reviews import Review, subject_of
from backfill_platform.domain.verdicts import Gate, Outcome
from backfill_platform.ledger.alert_book import AlertBook
from backfill_platform.ledger.database import opened, reading
from backfill_platform.ledger.schema import metadata
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import (
    ALONG_THE_ROAD,
    LEASE_SECONDS,
    NOW,
    TABLE,
    after,
    claimed,
    intent,
    january,
    judged,
    move,
    publish,
    register,
    stage,
)

S = RunState
TO_STAGING = ALONG_THE_ROAD[:3]
TO_VALIDATED = ALONG_THE_ROAD[:5]


@pytest.fixture
def book(ledger: Ledger) -> AlertBook:
    return ledger.alerts


def fail(ledger: Ledger, origin: str = "cli:1", days: DayRange | None = None, **said) -> RunId:
    run_id = register(ledger, origin, days, **said).run_id
    move(ledger, run_id, *TO_STAGING)
    ledger.move(
        run_id, S.STAGING, S.FAILED, actor="w", cause="disk full", details={}, now=after(60)
    )
    return run_id


def judge(
    ledger: Ledger, days: DayRange, outcome: Outcome, gate: Gate = Gate.KEY_UNIQUE, **said
) -> RunId:
    """A run that is STAGING, with one chunk that is judged so."""
    run_id = register(ledger, days=days, **said).run_id
    move(ledger, run_id, *TO_STAGING)
    stage(ledger, run_id, claimed(ledger, run_id, days))
    verdicts = [replace(one, gate=gate) for one in judged(days, outcome)]
    ledger.record_verdicts(run_id, days, verdicts, now=after(120))
    return run_id


def hold(ledger: Ledger, **said) -> RunId:
    run_id = judge(ledger, january(1, 3), Outcome.HELD, Gate.CHANGE_EXPECTED, **said)
    move(ledger, run_id, *TO_VALIDATED[2:])
    return run_id


def failed_runs(book: AlertBook, *, since: datetime = NOW, also=(), limit: int = 10):
    return book.standing_runs({S.FAILED}, since=since, also=also, limit=limit)


def test_a_failed_run_is_found_with_when_and_why(ledger: Ledger, book: AlertBook) -> None:
    run_id = fail(ledger)
    (found,) = failed_runs(book)
    assert (found.run_id, found.state, found.table) == (run_id, S.FAILED, TABLE)
    assert (found.entered_at, found.cause) == (after(60), "disk full")


@pytest.mark.parametrize("mode", [ExecutionMode.DRY_RUN, ExecutionMode.LIVE])
def test_a_failed_run_says_whether_it_would_publish(ledger, book, mode: ExecutionMode) -> None:
    fail(ledger, mode=mode)
    assert failed_runs(book)[0].never_publishes == (mode is ExecutionMode.DRY_RUN)


def test_an_old_failure_is_found_only_by_its_name(ledger: Ledger, book: AlertBook) -> None:
    run_id = fail(ledger)
    assert failed_runs(book, since=after(61)) == ()
    assert [run.run_id for run in failed_runs(book, since=after(61), also=[run_id])] == [run_id]


def test_what_is_named_and_stands_otherwise_is_not_found(ledger: Ledger, book: AlertBook) -> None:
    run_id = register(ledger).run_id
    assert failed_runs(book, also=[run_id]) == ()
    assert book.states([run_id, "unknown"]) == {run_id: S.PLANNED}


def test_of_many_failures_the_newest_are_found(ledger: Ledger, book: AlertBook) -> None:
    for number in range(5):
        fail(ledger, f"cli:{number}")
    assert len(failed_runs(book, limit=3)) == 3


@pytest.mark.parametrize(
    ("days", "published", "is_made_good"),
    [
        (january(1, 2), after(3_600), True),
        (january(1, 3), after(3_600), False),
        (january(1, 2), after(30), False),
    ],
    ids=["all since", "one not at all", "all before"],
)
def test_a_failure_is_made_good_when_each_day_was_published_since(
    ledger, book, days, published, is_made_good
):
    run_id = fail(ledger, days=days)
    other = register(ledger, "cli:2", january(1, 2)).run_id
    publish(ledger, other, january(1, 2), version=2, now=published)
    assert book.made_good(failed_runs(book)) == ({run_id} if is_made_good else frozenset())


def test_repeated_keys_are_found_with_their_days(ledger: Ledger, book: AlertBook) -> None:
    run_id = judge(ledger, january(1, 3), Outcome.FAILED)
    (found,) = book.repeated_keys([run_id])
    assert (found.days, found.first, found.last) == (3, january(1).start, january(3).start)
    assert (found.table, found.message) == (TABLE, "m")


@pytest.mark.parametrize(
    ("outcome", "gate"),
    [
        (Outcome.FAILED, Gate.VALUES_VALID),
        (Outcome.WARNED, Gate.KEY_UNIQUE),
        (Outcome.PASSED, Gate.KEY_UNIQUE),
    ],
)
def test_other_verdicts_are_no_duplicates(ledger, book, outcome: Outcome, gate: Gate) -> None:
    assert book.repeated_keys([judge(ledger, january(1, 3), outcome, gate)]) == ()


def test_a_run_waits_since_its_state_and_not_since_its_last_note(
    ledger: Ledger, book: AlertBook
) -> None:
    run_id = register(ledger).run_id
    move(ledger, run_id, S.PLANNED, S.AWAITING_APPROVAL)
    (found,) = book.awaiting_consent(limit=10)
    assert (found.run_id, found.entered_at) == (run_id, NOW)


def test_a_run_that_is_not_held_is_not_found_as_held(ledger: Ledger, book: AlertBook) -> None:
    run_id = judge(ledger, january(1, 3), Outcome.PASSED)
    move(ledger, run_id, *TO_VALIDATED[2:])
    assert book.held_runs(limit=10) == ()


def test_a_held_run_waits_since_it_was_judged(ledger: Ledger, book: AlertBook) -> None:
    run_id = hold(ledger)
    ((found, since),) = book.held_runs(limit=10)
    assert (found.run_id, since) == (run_id, after(120))
    assert book.count_unreviewed(run_id) == 3


@pytest.mark.parametrize(
    "said",
    [{"mode": ExecutionMode.DRY_RUN}, {"publish_scope": PublishScope.DARK}],
    ids=["dry run", "candidate"],
)
def test_what_is_never_published_waits_for_no_review(ledger, book, said) -> None:
    hold(ledger, **said)
    assert book.held_runs(limit=10) == ()


def test_what_was_reviewed_is_counted_no_more(ledger: Ledger, book: AlertBook) -> None:
    run_id = hold(ledger)
    record = ledger.run(run_id)
    review = Review(
        run_id=run_id,
        manifest_digest=record.manifest_digest,
        chunks=subject_of(ledger.held_chunks(run_id)),
        principal="bo",
        role="owner",
        decision=Decision.APPROVED,
        reason="a holiday",
        decided_at=after(180),
    )
    ledger.record_review(review, now=after(180))
    assert book.count_unreviewed(run_id) == 0


def test_an_open_intent_is_half_done_until_its_fact(ledger: Ledger, book: AlertBook) -> None:
    run_id = register(ledger, days=january(1, 3)).run_id
    ledger.record_intent(intent(run_id, january(1, 3)), now=NOW)
    (found,) = book.half_done(after(60), limit=10)
    assert (found.run_id, found.table, found.since) == (run_id, TABLE, NOW)
    publish(ledger, run_id, january(1, 3), version=1)
    assert book.half_done(after(60), limit=10) == ()


def test_a_chunk_is_half_done_when_its_lease_has_ended(ledger: Ledger, book: AlertBook) -> None:
    run_id = register(ledger, days=january(1, 3)).run_id
    move(ledger, run_id, *TO_STAGING)
    claimed(ledger, run_id, january(1, 3))
    assert book.half_done(after(LEASE_SECONDS - 1), limit=10) == ()
    (found,) = book.half_done(after(LEASE_SECONDS), limit=10)
    assert (found.run_id, found.since) == (run_id, after(LEASE_SECONDS))


def test_no_look_walks_through_everything_that_ever_was(sqlite_url: str) -> None:
    """Each statement of a look begins at an index, whatever it finds."""
    with closing(Ledger.open(sqlite_url)) as ledger:
        run_id = hold(ledger)
        fail(ledger, "cli:failed")
        statements = _statements_of_a_look(ledger, run_id)
    with opened(sqlite_url) as engine, reading(engine) as connection:
        steps = [
            row[3]
            for statement, parameters in statements
            for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
        ]
    walks = [step for step in steps if step.startswith("SCAN ")]
    assert not {step.split()[1] for step in walks} & set(metadata.tables)
    assert not [step for step in steps if "verdict USING INDEX sqlite_autoindex" in step]
    assert len(steps) > 10


def _statements_of_a_look(ledger: Ledger, run_id: RunId) -> list[tuple[str, tuple]]:
    seen: list[tuple[str, tuple]] = []

    def note(_connection, _cursor, statement, parameters, _context, _many) -> None:
        if statement.startswith("SELECT"):
            seen.append((statement, parameters))

    event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        book = ledger.alerts
        book.made_good(failed_runs(book, also=[run_id]))
        book.awaiting_consent(limit=10)
        book.held_runs(limit=10)
        book.count_unreviewed(run_id)
        book.repeated_keys([run_id])
        book.half_done(NOW, limit=10)
        book.due_deliveries(NOW, most_attempts=3, without=(), limit=10)
        book.open_alerts()
        ledger.newest_accepted(TABLE)
    finally:
        event.remove(sa.Engine, "before_cursor_execute", note)
    return seen
