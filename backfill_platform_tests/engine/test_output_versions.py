"""Runs of tables that keep every version of their output, from plan to rollback, without Spark."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest
from deltalake import DeltaTable

from backfill_platform.domain.clock import utc_now
from backfill_platform.domain.errors import PlanRefused, TargetMoved
from backfill_platform.domain.findings import Check
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.engine.look.holdings import check_holdings
from backfill_platform.engine.look.reading import accepted_rows
from backfill_platform.engine.look.seen_at import seen_at
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform, load_catalog
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import RolledBack, roll_back
from backfill_platform.lakehouse.delta_tables import read_table_state
from backfill_platform.planner.rollback_facts import RollbackRequest
from backfill_platform_tests.engine.by_hand import Meters, run_by_hand, stage_by_hand, write_rows
from backfill_platform_tests.modes import DATED, NUMBERED
from backfill_platform_tests.readings import week

DAYS = PartitionSet.of_range(week(days=3))
SECOND = PartitionSet.of_days([date(2025, 1, 2)])
TODAY = datetime(2026, 7, 4, 9, tzinfo=UTC)

Run = Callable[..., Manifest]


@pytest.fixture
def versioned(platform: Platform) -> Platform:
    catalog = load_catalog("backfill_platform_tests.modes:DECLARATIONS")
    return replace(platform, catalog=catalog, clock=lambda: TODAY)


@pytest.fixture
def plan(versioned: Platform, intent: Callable[..., Any]) -> Run:
    def make(
        origin: str, days: PartitionSet = DAYS, table: str = NUMBERED, **said: Any
    ) -> Manifest:
        return plan_run(versioned, intent(table, days.span, origin, **said))

    return make


@pytest.fixture
def published(versioned: Platform, plan: Run) -> Platform:
    """Three days, and then the second of them once more."""
    run_by_hand(versioned, plan("first"), meters(DAYS, "a"))
    run_by_hand(versioned, plan("second", SECOND), meters(SECOND, "b", "c"))
    return versioned


def meters(days: PartitionSet, *named: str) -> Meters:
    return dict.fromkeys(days, named)


def seen(platform: Platform, table: str = NUMBERED) -> list[tuple[int, str]]:
    """As consumers see it: the day of the month and the meter."""
    rows = accepted_rows(platform, table, DAYS, ["day", "meter"])
    return sorted((row["day"].day, row["meter"]) for row in rows)


def every(platform: Platform, table: str, column: str) -> list[tuple[str, int, str]]:
    rows = DeltaTable(platform.warehouse.table_path(table)).to_pyarrow_table().to_pylist()
    return sorted((str(row[column]), row["day"].day, row["meter"]) for row in rows)


def run_of(platform: Platform, origin: str) -> RunId:
    record = platform.ledger.run_by_origin(origin)
    assert record is not None
    return record.run_id


def asked(run_id: RunId) -> RollbackRequest:
    return RollbackRequest(run_id=run_id, days=None, reason="wrong", requested_by="on-call")


def undo(platform: Platform, run_id: RunId) -> RolledBack:
    return roll_back(platform, plan_rollback(platform, asked(run_id)).run_id)


ORIGINAL = [(1, "a"), (2, "a"), (3, "a")]
LATEST = [(1, "a"), (2, "b"), (2, "c"), (3, "a")]


def test_each_run_publishes_the_next_version(published: Platform) -> None:
    assert every(published, NUMBERED, "output_version") == [
        ("1", 1, "a"),
        ("1", 2, "a"),
        ("1", 3, "a"),
        ("2", 2, "b"),
        ("2", 2, "c"),
    ]


def test_the_latest_version_is_what_consumers_see(published: Platform) -> None:
    assert seen(published) == LATEST


def test_ledger_and_log_agree_on_what_is_seen(published: Platform) -> None:
    told = seen_at(published.ledger, published.warehouse, NUMBERED, utc_now())
    assert (told.is_agreed, [day.rows for day in told.days]) == (True, [1, 2, 1])


def test_a_run_holds_what_it_published_though_a_later_version_lies_elsewhere(
    published: Platform,
) -> None:
    run_id = run_of(published, "first")
    held = check_holdings(published.ledger, published.warehouse, run_id, NUMBERED, DAYS)
    assert [(one.day.day, one.is_as_accepted) for one in held] == [(1, True), (3, True)]


def test_a_rollback_brings_the_former_version_back(published: Platform) -> None:
    done = undo(published, run_of(published, "second"))
    assert seen(published) == ORIGINAL
    assert done.undone.state is RunState.ROLLED_BACK
    assert [one.row_count for one in done.accepted] == [1]


def test_a_rollback_of_the_rollback_brings_the_later_version_back(published: Platform) -> None:
    done = undo(published, run_of(published, "second"))
    undo(published, done.manifest.run_id)
    assert seen(published) == LATEST


def test_a_rollback_of_the_first_version_leaves_its_days_empty(published: Platform) -> None:
    undo(published, run_of(published, "second"))
    undo(published, run_of(published, "first"))
    assert seen(published) == []


class DyingLedger:
    """A ledger that is lost between the commit and the fact."""

    def __init__(self, ledger: Any) -> None:
        self._ledger = ledger

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    def record_fact(self, *_given: Any, **_named: Any) -> None:
        raise ConnectionError("the ledger is gone")


def test_a_rollback_that_landed_before_a_crash_is_found_in_the_log(published: Platform) -> None:
    """By its app transaction: it added no file that could be looked for."""
    rollback = plan_rollback(published, asked(run_of(published, "second")))
    dying: Any = DyingLedger(published.ledger)
    with pytest.raises(ConnectionError):
        roll_back(replace(published, ledger=dying), rollback.run_id)
    landed = DeltaTable(published.warehouse.table_path(NUMBERED)).version()
    done = roll_back(published, rollback.run_id)
    assert (done.version, done.undone.state) == (landed, RunState.ROLLED_BACK)
    assert DeltaTable(published.warehouse.table_path(NUMBERED)).version() == landed
    assert seen(published) == ORIGINAL


def test_ledger_and_log_agree_after_a_rollback(published: Platform) -> None:
    undo(published, run_of(published, "second"))
    told = seen_at(published.ledger, published.warehouse, NUMBERED, utc_now())
    assert (told.is_agreed, [day.rows for day in told.days]) == (True, [1, 1, 1])


def test_a_former_version_may_return_in_other_files(published: Platform) -> None:
    table = DeltaTable(published.warehouse.table_path(NUMBERED))
    table.optimize.z_order(["meter"], partition_filters=[("output_version", "=", "1")])
    table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    undo(published, run_of(published, "second"))
    assert seen(published) == ORIGINAL
    told = seen_at(published.ledger, published.warehouse, NUMBERED, utc_now())
    assert told.is_agreed


def test_a_rollback_says_that_nothing_has_to_return(published: Platform) -> None:
    rollback = plan_rollback(published, asked(run_of(published, "second")))
    said = [one.message for one in rollback.findings if one.check is Check.ROLLBACK_POSSIBLE]
    assert "what was seen before is still there" in said[0]


def test_a_version_that_came_in_between_is_refused(published: Platform, plan: Run) -> None:
    later = plan("third", SECOND)
    stage_by_hand(published, later, meters(SECOND, "d"))
    path = published.warehouse.table_path(NUMBERED)
    write_rows(path, meters(SECOND, "x"), run_id="somebody", output_version="3")
    with pytest.raises(TargetMoved, match="moved them"):
        publish_chunk(published, later.run_id, SECOND.span)
    assert seen(published) == [(1, "a"), (2, "x"), (3, "a")]


def test_days_equal_to_what_is_seen_get_no_version(published: Platform, plan: Run) -> None:
    staged = {**meters(DAYS, "z"), **meters(SECOND, "b", "c")}
    done = run_by_hand(published, plan("third"), staged)
    assert [day.day for day in done.unchanged] == [2]
    state = read_table_state(published.warehouse.table_path(NUMBERED), DAYS)
    assert state is not None
    assert list(state.output_versions.values()) == ["3", "2", "3"]


def test_a_number_is_greater_than_every_version_that_its_days_show(
    published: Platform, plan: Run
) -> None:
    assert plan("third").target.output_version == "3"


def test_output_is_as_of_the_day_of_planning(versioned: Platform, plan: Run) -> None:
    run_by_hand(versioned, plan("first", table=DATED), meters(DAYS, "a"))
    assert {row[0] for row in every(versioned, DATED, "as_of_date")} == {"2026-07-04"}


def test_output_may_be_as_of_an_earlier_day(versioned: Platform, plan: Run) -> None:
    first = plan("first", table=DATED, as_of=date(2026, 6, 30))
    run_by_hand(versioned, first, meters(DAYS, "a"))
    second = plan("second", SECOND, table=DATED, as_of=date(2026, 7, 1))
    run_by_hand(versioned, second, meters(SECOND, "b", "c"))
    assert seen(versioned, DATED) == LATEST


def test_output_as_of_a_day_that_is_seen_already_is_refused(versioned: Platform, plan: Run) -> None:
    run_by_hand(versioned, plan("first", table=DATED), meters(DAYS, "a"))
    with pytest.raises(PlanRefused) as refused:
        plan("second", SECOND, table=DATED)
    [said] = refused.value.reasons
    assert "2025-01-02 of silver.dated shows output as of 2026-07-04 already" in said
    assert "`--as-of DATE`, today at the latest" in said


def test_a_rolled_back_version_may_be_written_again(versioned: Platform, plan: Run) -> None:
    run_by_hand(versioned, plan("first", table=DATED), meters(DAYS, "a"))
    undo(versioned, run_of(versioned, "first"))
    run_by_hand(versioned, plan("second", table=DATED), meters(DAYS, "b"))
    assert seen(versioned, DATED) == [(1, "b"), (2, "b"), (3, "b")]
