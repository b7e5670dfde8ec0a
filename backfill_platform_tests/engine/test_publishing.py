"""Publication between the ledger and the target, on real Delta logs and without Spark."""

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from backfill_platform.domain.errors import PartitionsFenced, TargetMoved
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import ExecutionMode, RunKind
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.publications import Compaction
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.fencing import LEASE_SECONDS, fenced
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.engine.records import bundle
from backfill_platform_tests.engine.by_hand import (
    Meters,
    run_by_hand,
    stage_by_hand,
    write_rows,
)
from backfill_platform_tests.readings import BRONZE, week

DAYS = week(days=3)
NOW = datetime(2026, 7, 4, 9, 0, tzinfo=UTC)

LIVE = {"kind": RunKind.LIVE, "mode": ExecutionMode.LIVE}

Plan = Callable[..., Manifest]


class Clock:
    """Stands still until somebody moves it."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def timed(platform: Platform, clock: Clock) -> Platform:
    return replace(platform, clock=clock)


@pytest.fixture
def plan(timed: Platform, intent: Callable[..., Any]) -> Plan:
    def make(origin: str, days: DayRange = DAYS, **changes: Any) -> Manifest:
        return plan_run(timed, intent(BRONZE, days, origin, **changes))

    return make


def meters(*names: str, days: DayRange = DAYS) -> Meters:
    return dict.fromkeys(days, names)


def target(platform: Platform) -> Path:
    return platform.warehouse.table_path(BRONZE)


def version(platform: Platform) -> int:
    return DeltaTable(target(platform)).version()


def publication_of(platform: Platform, run_id: RunId) -> Any:
    (found,) = [one for one in bundle(platform, run_id).records() if one.kind == "publication"]
    return found.body


def freeze(platform: Platform, minutes: int) -> Platform:
    spec = replace(platform.catalog.tables[BRONZE], frozen_minutes=minutes)
    tables = {**platform.catalog.tables, BRONZE: spec}
    return replace(platform, catalog=replace(platform.catalog, tables=tables))


def test_a_run_that_changes_nothing_commits_nothing(timed: Platform, plan: Plan) -> None:
    run_by_hand(timed, plan("first"), meters("a", "b"))
    before = version(timed)
    again = plan("again")
    done = run_by_hand(timed, again, meters("a", "b"))
    assert (done.changed, done.unchanged, done.version) == ((), tuple(DAYS), None)
    assert version(timed) == before
    assert timed.ledger.run(again.run_id).state is RunState.PUBLISHED


def test_compacted_partitions_are_still_equal_to_the_accepted_ones(
    timed: Platform, plan: Plan
) -> None:
    run_by_hand(timed, plan("first"), meters("a", "b"))
    DeltaTable(target(timed)).optimize.z_order(["meter"])
    assert run_by_hand(timed, plan("again"), meters("a", "b")).unchanged == tuple(DAYS)


def test_as_many_rows_of_somebody_else_are_not_equal_to_the_accepted_ones(
    timed: Platform, plan: Plan
) -> None:
    run_by_hand(timed, plan("first"), meters("a", "b"))
    DeltaTable(target(timed)).delete(f"day = '{DAYS.start}'")
    write_rows(target(timed), meters("x", "y", days=week(days=1)), run_id="somebody")
    assert run_by_hand(timed, plan("again"), meters("a", "b")).changed == (DAYS.start,)


def test_the_evidence_names_what_was_published_and_what_was_left_as_it_was(
    timed: Platform, plan: Plan
) -> None:
    run_by_hand(timed, plan("first"), meters("a", "b"))
    again = plan("again")
    run_by_hand(timed, again, {**meters("a", "b"), DAYS.start: ("a", "c")})
    said = publication_of(timed, again.run_id)
    assert (said["changed"], said["unchanged"]) == (
        ["2025-01-01"],
        ["2025-01-02", "2025-01-03"],
    )


def test_the_evidence_says_that_a_compaction_was_seen_through(timed: Platform, plan: Plan) -> None:
    run_by_hand(timed, plan("first"), meters("a", "b"))
    write_rows(target(timed), meters("x", days=week(days=1)), run_id="somebody")
    again = plan("again")
    stage_by_hand(timed, again, meters("c"))
    DeltaTable(target(timed)).optimize.compact()
    done = publish_chunk(timed, again.run_id, DAYS)
    assert done.compaction == Compaction(days=(DAYS.start,), versions=(3,))
    said = publication_of(timed, again.run_id)
    assert said["compaction"] == {"days": ["2025-01-01"], "versions": [3]}


def test_a_foreign_append_is_refused_whatever_fence_there_was(timed: Platform, plan: Plan) -> None:
    planned = plan("first")
    stage_by_hand(timed, planned, meters("a"))
    write_rows(target(timed), meters("x", days=week(days=1)), run_id="somebody")
    with pytest.raises(TargetMoved, match="2025-01-01"):
        publish_chunk(timed, planned.run_id, DAYS)
    assert timed.ledger.open_fences(BRONZE, NOW) == ()


def test_a_publication_leaves_no_fence_behind(timed: Platform, plan: Plan) -> None:
    run_by_hand(timed, plan("first"), meters("a"))
    assert timed.ledger.open_fences(BRONZE, NOW) == ()


def test_a_live_run_waits_while_another_one_publishes(
    timed: Platform, plan: Plan, clock: Clock
) -> None:
    first = plan("first", week(days=1))
    live = plan("live", week(date(2025, 1, 2), days=1), **LIVE)
    stage_by_hand(timed, live, meters("b", days=week(date(2025, 1, 2), days=1)))
    with (
        fenced(timed, first, PartitionSet.of_range(DAYS)),
        pytest.raises(PartitionsFenced, match=f"2025-01-02 by {first.run_id} until 2026-07-04 09"),
    ):
        publish_chunk(timed, live.run_id, live.target.partitions.span)
    assert timed.ledger.run(live.run_id).state is RunState.VALIDATED
    publish_chunk(timed, live.run_id, live.target.partitions.span)
    assert timed.ledger.run(live.run_id).state is RunState.PUBLISHED


def test_a_window_stays_frozen_as_long_as_its_table_declares(
    timed: Platform, plan: Plan, clock: Clock
) -> None:
    freezing = freeze(timed, minutes=10)
    run_by_hand(freezing, plan("first"), meters("a"))
    live = plan("live", **LIVE)
    stage_by_hand(freezing, live, meters("b"))
    clock.now = NOW + timedelta(minutes=10, seconds=-1)
    with pytest.raises(PartitionsFenced, match="until 2026-07-04 09:10:00 UTC"):
        publish_chunk(freezing, live.run_id, DAYS)
    clock.now = NOW + timedelta(minutes=10)
    assert publish_chunk(freezing, live.run_id, DAYS).changed == tuple(DAYS)


def test_what_nobody_committed_freezes_nobody_out(timed: Platform, plan: Plan) -> None:
    run_by_hand(timed, plan("first"), meters("a"))
    run_by_hand(freeze(timed, minutes=10), plan("again"), meters("a"))
    assert timed.ledger.open_fences(BRONZE, NOW) == ()


def test_a_run_that_is_no_live_one_does_not_wait_for_a_freeze(timed: Platform, plan: Plan) -> None:
    freezing = freeze(timed, minutes=10)
    run_by_hand(freezing, plan("first"), meters("a"))
    assert run_by_hand(freezing, plan("second"), meters("b")).changed == tuple(DAYS)


def test_a_run_whose_fence_was_overtaken_commits_nothing(timed: Platform, plan: Plan) -> None:
    planned = plan("first")
    stage_by_hand(timed, planned, meters("a"))
    before = version(timed)
    overtaken = replace(timed, ledger=OvertakenLedger(timed.ledger))
    with pytest.raises(PartitionsFenced, match="has taken token 2 since"):
        publish_chunk(overtaken, planned.run_id, DAYS)
    assert version(timed) == before
    assert publish_chunk(timed, planned.run_id, DAYS).changed == tuple(DAYS)


class OvertakenLedger:
    """Somebody takes a newer token between the look at the base and the commit."""

    def __init__(self, ledger: Any) -> None:
        self._ledger = ledger

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    def record_intent(self, intent: Any, *, now: datetime) -> Any:
        self._ledger.acquire_fence(
            intent.run_id,
            intent.table,
            PartitionSet.of_days(intent.days),
            gives_way=False,
            lease_seconds=1,
            now=now,
        )
        return self._ledger.record_intent(intent, now=now)


def test_a_run_whose_lease_has_ended_commits_nothing(
    timed: Platform, plan: Plan, clock: Clock
) -> None:
    planned = plan("first")
    with fenced(timed, planned, planned.target.partitions) as guard:
        clock.now = NOW + timedelta(seconds=LEASE_SECONDS)
        with pytest.raises(PartitionsFenced, match="its lease ended at 2026-07-04 09:02:00 UTC"):
            guard()


def test_the_lease_of_a_long_publication_is_renewed(
    timed: Platform, plan: Plan, clock: Clock
) -> None:
    planned, renewed = plan("first"), threading.Event()
    platform = replace(timed, ledger=TellingLedger(timed.ledger, renewed))
    with fenced(platform, planned, planned.target.partitions, renew_seconds=0.001) as guard:
        clock.now = NOW + timedelta(seconds=LEASE_SECONDS - 1)
        assert renewed.wait(timeout=30)
        clock.now = NOW + timedelta(seconds=LEASE_SECONDS + 1)
        guard()


class TellingLedger:
    """Says when a lease was renewed at a later time than it began."""

    def __init__(self, ledger: Any, renewed: threading.Event) -> None:
        self._ledger = ledger
        self._renewed = renewed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    def renew_fence(self, fence: Any, **said: Any) -> None:
        self._ledger.renew_fence(fence, **said)
        if said["now"] > fence.acquired_at:
            self._renewed.set()
