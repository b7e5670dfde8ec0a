"""What looks at the tables have found, on every database."""

from dataclasses import replace

import pytest

from backfill_platform.domain.gaps import Gap, GapKind, GapReport, NotedChanges
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import NOW, TABLE, after, january
from backfill_platform_tests.racing import run_together

GAP = Gap(
    table=TABLE,
    kind=GapKind.MISSING_PARTITION,
    subject="empty-2025-01-03",
    days=PartitionSet.of_range(january(3, 4)),
    message="2 days are due",
    fills=True,
)
OTHER = replace(GAP, subject="commit-7", kind=GapKind.UNEXPLAINED_COMMIT, days=None)
REPORT = GapReport(key=GAP.key, digest="1" * 64, why="nobody may")


def note(ledger: Ledger, *gaps: Gap, at: int = 0) -> NotedChanges:
    return ledger.note_gaps(gaps, tables=(TABLE,), now=after(at))


def lasting(ledger: Ledger):
    return ledger.lasting_gaps((TABLE,))


def test_a_gap_is_noted_as_it_was_seen(ledger: Ledger) -> None:
    assert note(ledger, GAP, OTHER) == NotedChanges(new=(GAP.key, OTHER.key))
    found = lasting(ledger)[GAP.key]
    assert (found.days, found.kind, found.digest, found.message) == (
        GAP.days,
        GAP.kind,
        GAP.digest,
        GAP.message,
    )
    assert lasting(ledger)[OTHER.key].days is None


def test_seen_again_it_is_the_same_and_remembers_when_it_began(ledger: Ledger) -> None:
    note(ledger, GAP)
    assert note(ledger, GAP, at=60) == NotedChanges()
    found = lasting(ledger)[GAP.key]
    assert (found.first_seen_at, found.last_seen_at) == (NOW, after(60))


def test_a_gap_that_says_something_else_has_changed(ledger: Ledger) -> None:
    note(ledger, GAP)
    grown = replace(GAP, message="3 days are due")
    assert note(ledger, grown, at=60) == NotedChanges(changed=(GAP.key,))
    assert lasting(ledger)[GAP.key].digest == grown.digest


def test_what_is_not_seen_any_more_is_resolved(ledger: Ledger) -> None:
    note(ledger, GAP, OTHER)
    assert note(ledger, OTHER, at=60) == NotedChanges(resolved=(GAP.key,))
    assert set(lasting(ledger)) == {OTHER.key}


def test_a_look_at_one_table_resolves_nothing_of_another(ledger: Ledger) -> None:
    note(ledger, GAP)
    assert ledger.note_gaps((), tables=("gold.other",), now=after(60)) == NotedChanges()
    assert set(lasting(ledger)) == {GAP.key}


def test_a_gap_that_comes_back_begins_anew_and_is_reported_anew(ledger: Ledger) -> None:
    note(ledger, GAP)
    ledger.report_gaps([REPORT], now=NOW)
    note(ledger, at=60)
    assert note(ledger, GAP, at=120) == NotedChanges(new=(GAP.key,))
    found = lasting(ledger)[GAP.key]
    assert (found.first_seen_at, found.reported_at) == (after(120), None)


def test_the_same_report_is_told_once(ledger: Ledger) -> None:
    note(ledger, GAP)
    assert ledger.report_gaps([REPORT], now=NOW) == (GAP.key,)
    assert ledger.report_gaps([REPORT], now=after(60)) == ()
    found = lasting(ledger)[GAP.key]
    assert (found.reported_at, found.reported_why) == (NOW, "nobody may")


def test_a_report_that_says_something_else_is_told_again(ledger: Ledger) -> None:
    note(ledger, GAP)
    ledger.report_gaps([REPORT], now=NOW)
    other = replace(REPORT, digest="2" * 64, why="3 attempts did not mend it")
    assert ledger.report_gaps([other], now=after(60)) == (GAP.key,)


def test_of_two_who_report_the_same_one_does(ledger: Ledger, ledger_url: str) -> None:
    note(ledger, GAP)
    told = run_together(
        [lambda: Ledger.open(ledger_url).report_gaps([REPORT], now=NOW) for _ in range(4)]
    )
    assert sorted(told) == [(), (), (), (GAP.key,)]


def test_two_looks_at_once_note_a_gap_once(ledger_url: str) -> None:
    noted = run_together([lambda: note(Ledger.open(ledger_url), GAP, OTHER) for _ in range(4)])
    assert sorted(len(changes.new) for changes in noted) == [0, 0, 0, 2]


@pytest.mark.parametrize("was_refused", [True, False])
def test_when_a_plan_was_refused_is_remembered_each_time(ledger: Ledger, was_refused) -> None:
    note(ledger, GAP)
    ledger.report_gaps([REPORT], now=NOW)
    ledger.report_gaps([replace(REPORT, was_refused=was_refused)], now=after(60))
    assert lasting(ledger)[GAP.key].refused_at == (after(60) if was_refused else None)


def test_any_number_of_gaps_is_noted(ledger: Ledger) -> None:
    many = [replace(GAP, subject=f"empty-{number}") for number in range(1_200)]
    assert len(note(ledger, *many).new) == 1_200
    assert len(note(ledger, at=60).resolved) == 1_200
