"""What was seen at an instant: ledger and Delta log are asked apart, and have to agree."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from backfill_platform.domain.clock import utc_now
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.manifests import Manifest
from backfill_platform.engine.look.seen_at import NO_RUN, Agreement, Seen, SeenDay, seen_at
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.planner.rollback_facts import RollbackRequest
from backfill_platform_tests.engine.by_hand import Meters, run_by_hand, stage_by_hand, write_rows
from backfill_platform_tests.readings import BRONZE, START, week

DAYS = week(days=3)
FIRST_DAY = week(days=1)

Run = Callable[..., Manifest]


@pytest.fixture
def run(platform: Platform, intent: Callable[..., Any]) -> Run:
    """Publishes rows of these meters for each of the days."""

    def publish(origin: str, *meters: str, days=DAYS) -> Manifest:
        manifest = plan_run(platform, intent(BRONZE, days, origin))
        run_by_hand(platform, manifest, dict.fromkeys(days, meters))
        return manifest

    return publish


def on_first_day(*meters: str) -> Meters:
    return {START: meters}


def target(platform: Platform) -> Path:
    return platform.warehouse.table_path(BRONZE)


def seen(platform: Platform, at: datetime | None = None, **chosen: Any) -> Seen:
    return seen_at(platform.ledger, platform.warehouse, BRONZE, at or utc_now(), **chosen)


def told(found: Seen) -> list[tuple[str | None, int | None, Agreement]]:
    return [(owed_to(one), one.rows, one.agreement) for one in found.days]


def owed_to(found: SeenDay) -> RunId | None:
    return found.accepted.run_id if found.accepted else None


def undo(platform: Platform, run_id: RunId) -> RunId:
    request = RollbackRequest(
        run_id=run_id, days=None, reason="tests", ticket="", requested_by="tests"
    )
    planned = plan_rollback(platform, request)
    return roll_back(platform, planned.run_id).manifest.run_id


def test_what_was_seen_before_a_restatement_is_told_afterwards(platform, run):
    first = run("first", "a", "b")
    before = utc_now()
    second = run("second", "c", days=FIRST_DAY)
    assert told(seen(platform, before)) == [(first.run_id, 2, Agreement.AGREED)] * 3
    assert told(seen(platform)) == [
        (second.run_id, 1, Agreement.AGREED),
        *[(first.run_id, 2, Agreement.AGREED)] * 2,
    ]


def test_before_the_first_publication_nothing_was_seen_and_both_say_so(platform, run):
    before = utc_now()
    run("first", "a")
    found = seen(platform, before)
    assert (found.days, found.version, found.is_agreed) == ((), None, True)


def test_one_day_can_be_asked_for(platform, run):
    first = run("first", "a", "b")
    (found,) = seen(platform, day=START).days
    assert (found.day, found.files_of) == (START, (first.run_id,))


def test_a_rollback_is_seen_with_the_rows_of_the_run_before(platform, run):
    first = run("first", "a", "b")
    second = run("second", "c", days=FIRST_DAY)
    undoing = undo(platform, second.run_id)
    (found,) = seen(platform, day=START).days
    assert (owed_to(found), found.rows, found.files_of) == (undoing, 2, (first.run_id,))
    assert found.agreement is Agreement.AGREED


def test_rows_that_no_run_wrote_and_a_rollback_returned_are_told_by_their_files(platform, run):
    run("first", "a", days=week(days=1, start=DAYS.last))
    write_rows(target(platform), on_first_day("x"), run_id="somebody")
    undoing = undo(platform, run("second", "c", days=FIRST_DAY).run_id)
    (found,) = seen(platform, day=START).days
    assert (owed_to(found), found.files_of) == (undoing, (NO_RUN,))
    assert found.agreement is Agreement.AGREED


def test_a_compaction_is_seen_through(platform, run):
    first = run("first", "a", "b")
    DeltaTable(target(platform)).optimize.z_order(["meter"])
    (found,) = seen(platform, day=START).days
    assert (owed_to(found), found.files_of) == (first.run_id, (NO_RUN,))
    assert found.agreement is Agreement.AGREED


def test_rows_that_somebody_added_are_a_disagreement(platform, run):
    first = run("first", "a", "b")
    write_rows(target(platform), on_first_day("x"), run_id="somebody")
    found = seen(platform)
    assert [one.agreement for one in found.days] == [Agreement.DISAGREED, *[Agreement.AGREED] * 2]
    assert found.days[0].why == f"{first.run_id} published 2 rows, and the table held 3"


def test_other_files_with_as_many_rows_are_a_disagreement(platform, run):
    first = run("first", "a")
    DeltaTable(target(platform)).delete(f"day = '{START}'")
    write_rows(target(platform), on_first_day("x"), run_id="somebody")
    (found,) = seen(platform, day=START).days
    assert found.why == f"the files should be those of {first.run_id}, and were of no run"


def test_rows_that_no_run_has_published_are_a_disagreement(platform, run):
    run("first", "a", days=week(days=1, start=DAYS.last))
    write_rows(target(platform), on_first_day("x"), run_id="somebody")
    (found,) = seen(platform, day=START).days
    assert (found.agreement, found.accepted) == (Agreement.DISAGREED, None)
    assert found.why == "the table held rows that no run had published (1)"


def test_a_day_that_a_run_left_empty_is_agreed_on(platform, intent):
    planned = plan_run(platform, intent(BRONZE, DAYS, "first"))
    run_by_hand(platform, planned, on_first_day("a"))
    assert told(seen(platform))[1:] == [(planned.run_id, 0, Agreement.AGREED)] * 2


def test_a_fact_that_was_recorded_after_the_instant_is_told_as_that(platform, intent):
    late = replace(platform, clock=lambda: utc_now() + timedelta(hours=1))
    planned = plan_run(platform, intent(BRONZE, DAYS, "first"))
    stage_by_hand(platform, planned, on_first_day("a"))
    publish_chunk(late, planned.run_id, DAYS)
    (found,) = seen(platform, day=START).days
    assert (found.accepted, found.rows) == (None, 1)
    assert found.agreement is Agreement.RECORDED_LATER


def test_a_log_that_was_cleaned_up_leaves_the_ledger_alone_to_answer(platform, run):
    first = run("first", "a")
    before = utc_now()
    run("second", "b")
    table = DeltaTable(target(platform))
    table.create_checkpoint()
    for version in range(table.version()):
        (target(platform) / "_delta_log" / f"{version:020d}.json").unlink()
    found = seen(platform, before)
    assert told(found) == [(first.run_id, None, Agreement.LOG_GONE)] * 3
    assert not found.is_agreed
