"""Which runs tell of gaps, on every database: repairs by their gap, and others that gave up."""

from dataclasses import replace

import pytest

from backfill_platform.domain.gaps import LastChange
from backfill_platform.domain.identity import GroupId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.modes import ExecutionMode, PublishScope, RunKind
from backfill_platform.domain.repairs import (
    read_repair_origin,
    repair_group,
    repair_origin,
)
from backfill_platform.domain.runs import RunRecord
from backfill_platform.ledger.store import Ledger
from backfill_platform_tests.ledger.samples import (
    NOW,
    TABLE,
    VERSION,
    after,
    intent,
    january,
    move,
    new_run,
    publish,
    register,
)

OTHER = "silver.other"
KEY = f"{TABLE}:empty-2025-01-03"
FAILED = (RunState.PLANNED, RunState.APPROVED, RunState.STAGING, RunState.FAILED)


def repair(ledger: Ledger, attempt: int, key: str = KEY, *, at: int = 0) -> RunRecord:
    made = new_run(repair_origin(key, attempt))
    return ledger.register_run(
        lambda number: replace(
            made(number), kind=RunKind.REPAIR, group_id=GroupId(repair_group(key))
        ),
        table=TABLE,
        transform_version=VERSION,
        planned_on=NOW.date(),
        now=after(at),
    )


def test_an_origin_tells_gap_and_attempt() -> None:
    assert read_repair_origin(repair_origin(KEY, 12)) == (KEY, 12)


def test_attempts_are_found_by_their_gap_in_their_order(ledger: Ledger) -> None:
    for attempt in (1, 2, 10):
        repair(ledger, attempt)
    repair(ledger, 1, "silver.other:empty-2025-01-03")
    found = ledger.repairs_tried([KEY, "silver.other:empty-2025-01-09"])
    assert {key: [one.attempt for one in runs] for key, runs in found.items()} == {KEY: [1, 2, 10]}


def test_a_repair_that_somebody_asked_for_is_no_attempt(ledger: Ledger) -> None:
    made = new_run("cli:repair")
    ledger.register_run(
        lambda number: replace(
            made(number), kind=RunKind.REPAIR, group_id=GroupId(repair_group(KEY))
        ),
        table=TABLE,
        transform_version=VERSION,
        planned_on=NOW.date(),
        now=NOW,
    )
    assert ledger.repairs_tried([KEY]) == {}
    assert ledger.repairs_since([TABLE], NOW) == ()


def test_repairs_of_a_time_are_found_by_when_they_were_planned(ledger: Ledger) -> None:
    repair(ledger, 1)
    later = repair(ledger, 2, at=3_600)
    register(ledger, now=after(3_600))
    assert ledger.repairs_since([TABLE], after(1)) == (later,)


def test_runs_that_failed_are_found_the_newest_first(ledger: Ledger) -> None:
    runs = [register(ledger, f"cli:{at}", january(at), now=after(at)) for at in (1, 2, 3)]
    for run in runs:
        move(ledger, run.run_id, *FAILED)
    found = ledger.ended_runs([TABLE], [RunState.FAILED], limit=2)[TABLE]
    assert [one.run_id for one in found] == [runs[2].run_id, runs[1].run_id]
    assert (found[0].days, found[0].ended_at) == (runs[2].days, NOW)


def test_runs_that_ended_are_told_by_table_and_state(ledger: Ledger) -> None:
    failed = register(ledger, "cli:1", january(1))
    move(ledger, failed.run_id, *FAILED)
    expired = register(ledger, "cli:2", january(1), table=OTHER)
    move(ledger, expired.run_id, RunState.PLANNED, RunState.EXPIRED)
    states = (RunState.FAILED, RunState.EXPIRED)
    found = ledger.ended_runs([TABLE, OTHER], states, limit=9)
    assert {table: [(one.run_id, one.state) for one in runs] for table, runs in found.items()} == {
        TABLE: [(failed.run_id, RunState.FAILED)],
        OTHER: [(expired.run_id, RunState.EXPIRED)],
    }


def test_only_tables_whose_publications_ended_since_then_have_changed(ledger: Ledger) -> None:
    run = register(ledger)
    publish(ledger, run.run_id, january(1), version=1, now=after(60))
    assert ledger.changes_since(after(61)) == {}
    assert ledger.changes_since(after(60)) == {TABLE: LastChange(facts=1, newest_at=after(60))}


def test_an_intent_that_is_still_open_has_changed_nothing(ledger: Ledger) -> None:
    ledger.record_intent(intent(register(ledger).run_id, january(1)), now=NOW)
    assert ledger.changes_since(after(-60)) == {}


@pytest.mark.parametrize(
    "said", [{"mode": ExecutionMode.DRY_RUN}, {"publish_scope": PublishScope.DARK}]
)
def test_what_would_never_have_published_has_given_up_nothing(ledger: Ledger, said) -> None:
    move(ledger, register(ledger, **said).run_id, *FAILED)
    assert ledger.ended_runs([TABLE], [RunState.FAILED], limit=9) == {TABLE: ()}


def test_a_failed_attempt_is_told_by_its_gap_and_not_by_itself(ledger: Ledger) -> None:
    move(ledger, repair(ledger, 1).run_id, *FAILED)
    assert ledger.ended_runs([TABLE], [RunState.FAILED], limit=9) == {TABLE: ()}


def test_what_consumers_see_is_told_by_day(ledger: Ledger) -> None:
    first = register(ledger, "cli:1")
    publish(ledger, first.run_id, january(1, 3), version=1)
    second = register(ledger, "cli:2")
    publish(ledger, second.run_id, january(2, 2), version=2)
    found = ledger.accepted_days(TABLE)
    assert {day.day: (one.run_id, one.target_version) for day, one in found.items()} == {
        1: (first.run_id, 1),
        2: (second.run_id, 2),
        3: (first.run_id, 1),
    }


def test_the_versions_that_publications_explain_are_told_from_one_on(ledger: Ledger) -> None:
    for number in (1, 2, 3):
        run = register(ledger, f"cli:{number}", january(number))
        publish(ledger, run.run_id, january(number), version=number)
    assert ledger.landed_versions(TABLE, at_least=2) == {2, 3}
    assert ledger.landed_versions("gold.other", at_least=0) == frozenset()


def test_a_publication_is_known_as_soon_as_it_was_intended(ledger: Ledger) -> None:
    run = register(ledger, "cli:1", january(1))
    landed = publish(ledger, run.run_id, january(1), version=1)
    assert (ledger.is_intended(landed), ledger.is_intended("somebody")) == (True, False)
