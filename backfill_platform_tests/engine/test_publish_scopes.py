"""How much of a run becomes visible at once, on real Delta logs and without Spark."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from deltalake import DeltaTable

from backfill_platform.domain.chunks import ChunkRecord
from backfill_platform.domain.errors import (
    ApprovalMissing,
    ChunkRefused,
    GateFailed,
    PlanRefused,
    TargetMoved,
)
from backfill_platform.domain.lifecycle import ChunkStatus, RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import PublishScope
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.engine.carry_out.controlling import cancel_run
from backfill_platform.engine.carry_out.starting import start_run
from backfill_platform.engine.look.status import RunStatus, read_status
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform, load_catalog
from backfill_platform.engine.publish.comparisons import record_comparison, staged_chunks
from backfill_platform.engine.publish.publishing import (
    ChunkPublication,
    publish_chunk,
    publish_partitions,
)
from backfill_platform.engine.records import bundle
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.planner.rollback_facts import RollbackRequest
from backfill_platform_tests.engine.by_hand import Meters, stage_by_hand
from backfill_platform_tests.engine.compared import kept_comparison
from backfill_platform_tests.engine.written import write_day
from backfill_platform_tests.modes import SWAPPED, WHOLE
from backfill_platform_tests.readings import week

EARLY, LATE = week(days=2), week(date(2025, 1, 4), days=3)
RANGES = PartitionSet((EARLY, LATE))
GAP = date(2025, 1, 3)
DAYS = PartitionSet.of_range(week(days=3))

Plan = Callable[..., Manifest]


@pytest.fixture
def scoped(platform: Platform) -> Platform:
    """Over one table for each way of publishing."""
    return replace(platform, catalog=load_catalog("backfill_platform_tests.modes:DECLARATIONS"))


@pytest.fixture
def plan(scoped: Platform, intent: Callable[..., Any]) -> Plan:
    def make(origin: str, days: PartitionSet = RANGES, table: str = WHOLE, **said: Any) -> Manifest:
        return plan_run(scoped, replace(intent(table, days.span, origin, **said), days=days))

    return make


def meters(*names: str, days: PartitionSet = RANGES) -> Meters:
    return dict.fromkeys(days, names)


def stage(platform: Platform, manifest: Manifest, *names: str) -> None:
    days = manifest.target.partitions
    stage_by_hand(platform, manifest, meters(*names, days=days), days.ranges)


def publish_all(platform: Platform, manifest: Manifest) -> ChunkPublication:
    return publish_partitions(platform, manifest.run_id, manifest.target.partitions)


def run(platform: Platform, manifest: Manifest, *names: str) -> ChunkPublication:
    stage(platform, manifest, *names)
    return publish_all(platform, manifest)


def restage(platform: Platform, manifest: Manifest, days: DayRange) -> None:
    """As after a loss that was found late; what it holds then is not looked at here."""
    (chunk,) = [one for one in platform.ledger.chunks(manifest.run_id) if one.days == days]
    platform.ledger.fail_chunk(
        manifest.run_id, chunk.chunk_id, chunk.fencing_token, error="tests", now=platform.clock()
    )
    stage_by_hand(platform, manifest, meters("a", "b"), [days])


def compare(platform: Platform, manifest: Manifest) -> bool:
    return record(platform, manifest, staged_chunks(platform, manifest.run_id))


def record(platform: Platform, manifest: Manifest, chunks: tuple[ChunkRecord, ...]) -> bool:
    kept = kept_comparison(platform, manifest)
    return record_comparison(platform, manifest, chunks, kept)


def open_target(platform: Platform, table: str = WHOLE) -> DeltaTable:
    return DeltaTable(platform.warehouse.table_path(table))


def shown(platform: Platform, table: str = WHOLE) -> dict[date, str]:
    """What readers see: of each day the run that produced all of it."""
    rows = open_target(platform, table).to_pyarrow_table().to_pylist()
    return {row["day"]: row["produced_by_run_id"] for row in rows}


def status(platform: Platform, manifest: Manifest) -> RunStatus:
    return read_status(platform.ledger, manifest.run_id, platform.clock())


def test_a_whole_run_over_several_ranges_lands_in_one_commit(scoped: Platform, plan: Plan) -> None:
    planned = plan("first")
    done = run(scoped, planned, "a", "b")
    assert open_target(scoped).version() == done.version == 1
    assert shown(scoped) == dict.fromkeys(RANGES, planned.run_id)
    assert {one.publication_id for one in done.accepted} == {f"{planned.run_id}/whole-run"}
    assert {one.status for one in scoped.ledger.chunks(planned.run_id)} == {ChunkStatus.PUBLISHED}
    assert status(scoped, planned).run.state is RunState.PUBLISHED


def test_a_part_of_a_whole_run_is_refused_with_what_is_missing(
    scoped: Platform, plan: Plan
) -> None:
    planned = plan("first")
    stage(scoped, planned, "a")
    with pytest.raises(ChunkRefused, match=r"leaves out 2025-01-04..2025-01-06; publish all of it"):
        publish_chunk(scoped, planned.run_id, EARLY)
    assert shown(scoped) == {}


def test_a_whole_run_is_refused_while_a_chunk_of_it_is_not_judged(
    scoped: Platform, plan: Plan
) -> None:
    planned = plan("first")
    stage_by_hand(scoped, planned, meters("a"), [EARLY])
    with pytest.raises(GateFailed, match=r"negative or missing .*2025-01-04"):
        publish_all(scoped, planned)
    assert shown(scoped) == {}


def test_a_whole_run_that_is_published_twice_is_told_as_it_landed(
    scoped: Platform, plan: Plan
) -> None:
    planned = plan("first")
    first = run(scoped, planned, "a")
    assert publish_all(scoped, planned) == first
    assert open_target(scoped).version() == first.version


def test_a_day_of_a_whole_run_that_is_as_accepted_is_not_published_again(
    scoped: Platform, plan: Plan
) -> None:
    first = plan("first")
    run(scoped, first, "a")
    second = plan("second")
    stage_by_hand(scoped, second, {**meters("b"), LATE.last: ("a",)}, RANGES.ranges)
    done = publish_all(scoped, second)
    assert done.unchanged == (LATE.last,)
    assert shown(scoped)[LATE.last] == first.run_id


def test_a_launch_that_holds_a_part_of_a_whole_run_is_refused_before_it_computes(
    scoped: Platform, plan: Plan
) -> None:
    planned = plan("first")
    with pytest.raises(ChunkRefused, match=rf"backfill/run: {planned.run_id}.*publish_scope"):
        start_run(scoped, planned.run_id, publishes=EARLY)
    assert status(scoped, planned).run.state is RunState.PLANNED


def test_a_launch_of_all_of_a_whole_run_goes_on(scoped: Platform, plan: Plan) -> None:
    planned = plan("first", DAYS)
    start_run(scoped, planned.run_id, publishes=DAYS.span)
    assert status(scoped, planned).run.state is RunState.APPROVED


@pytest.fixture
def dark(scoped: Platform, plan: Plan) -> Manifest:
    manifest = plan("dark", publish_scope=PublishScope.DARK)
    stage(scoped, manifest, "a", "b")
    return manifest


def test_a_candidate_is_read_where_it_is_staged_and_nowhere_else(
    scoped: Platform, dark: Manifest
) -> None:
    candidate = DeltaTable(scoped.warehouse.staging_path(WHOLE, dark.run_id))
    assert set(candidate.to_pyarrow_table()["day"].to_pylist()) == set(RANGES)
    assert shown(scoped) == {}


def test_a_candidate_is_never_published_and_says_where_it_lies(
    scoped: Platform, dark: Manifest
) -> None:
    path = scoped.warehouse.staging_path(WHOLE, dark.run_id)
    with pytest.raises(GateFailed, match=f"read it at {path}.*--replaces {dark.run_id}"):
        publish_all(scoped, dark)


def test_a_launch_that_would_publish_a_candidate_is_refused_before_it_computes(
    scoped: Platform, plan: Plan
) -> None:
    planned = plan("dark", DAYS, publish_scope=PublishScope.DARK)
    with pytest.raises(GateFailed, match="never published"):
        start_run(scoped, planned.run_id, publishes=DAYS.span)


def test_a_candidate_is_in_nobodys_way(scoped: Platform, plan: Plan, dark: Manifest) -> None:
    other = plan("other")
    run(scoped, other, "c")
    assert shown(scoped) == dict.fromkeys(RANGES, other.run_id)
    assert status(scoped, dark).run.state is RunState.VALIDATED


def test_a_candidate_waits_for_nobody_and_says_how_it_ends(
    scoped: Platform, dark: Manifest
) -> None:
    step = status(scoped, dark).next_step
    assert (step.waits_for, step.waits_for_somebody) == ("", False)
    assert step.commands[-1] == f"backfill cancel {dark.run_id}"


def test_a_candidate_that_is_planned_otherwise_ends(
    scoped: Platform, plan: Plan, dark: Manifest
) -> None:
    plan("for all", replaces=dark.run_id)
    assert status(scoped, dark).run.state is RunState.CANCELLED


def test_a_candidate_can_be_cancelled(scoped: Platform, dark: Manifest) -> None:
    ended = cancel_run(
        scoped.ledger,
        scoped.evidence,
        dark.run_id,
        actor="ana",
        reason="seen",
        now=scoped.clock(),
    )
    assert ended.state is RunState.CANCELLED


@pytest.fixture
def dual(scoped: Platform, plan: Plan) -> Manifest:
    manifest = plan("dual", publish_scope=PublishScope.DUAL_READ)
    stage(scoped, manifest, "a", "b")
    return manifest


def test_a_dual_read_is_published_only_when_every_day_was_compared(
    scoped: Platform, dual: Manifest
) -> None:
    with pytest.raises(ApprovalMissing, match=f"`backfill compare {dual.run_id}`"):
        publish_all(scoped, dual)
    compare(scoped, dual)
    assert publish_all(scoped, dual).changed == tuple(RANGES)


def test_a_dual_read_does_not_follow_staging_by_itself(scoped: Platform, dual: Manifest) -> None:
    compare(scoped, dual)
    with pytest.raises(ApprovalMissing, match="to be published by hand"):
        publish_partitions(scoped, dual.run_id, RANGES, by_hand=False)


def test_days_that_were_staged_after_the_comparison_are_named(scoped: Platform, plan: Plan) -> None:
    planned = plan("dual", publish_scope=PublishScope.DUAL_READ)
    stage_by_hand(scoped, planned, meters("a"), [EARLY])
    compare(scoped, planned)
    stage_by_hand(scoped, planned, meters("a"), [LATE])
    with pytest.raises(ApprovalMissing, match=r"has compared 2025-01-04\.\.2025-01-06 of"):
        publish_all(scoped, planned)


def test_a_chunk_that_is_staged_again_has_to_be_compared_again(
    scoped: Platform, dual: Manifest
) -> None:
    compare(scoped, dual)
    restage(scoped, dual, LATE)
    with pytest.raises(ApprovalMissing, match=r"has compared 2025-01-04\.\.2025-01-06 of"):
        publish_all(scoped, dual)


def test_a_chunk_that_is_staged_again_while_it_is_compared_does_not_count(
    scoped: Platform, dual: Manifest
) -> None:
    before = staged_chunks(scoped, dual.run_id)
    restage(scoped, dual, LATE)
    record(scoped, dual, before)
    assert status(scoped, dual).compared == len(EARLY)


def test_a_comparison_stands_in_evidence_and_events_with_its_figures(
    scoped: Platform, dual: Manifest
) -> None:
    compare(scoped, dual)
    (kept,) = [one for one in bundle(scoped, dual.run_id).records() if one.kind == "comparison"]
    said = scoped.ledger.events(dual.run_id)[-1]
    counted = kept.body["summary"]["found"]["totals"]
    assert (kept.body["days"], counted["changed"]) == (str(RANGES), 3)
    assert (said.details["added"], said.details["removed"]) == (1, 2)
    assert said.details["summary_digest"] == kept.body["summary_digest"]
    assert scoped.ledger.verify_run(dual.run_id) == ()


def test_a_status_says_what_a_dual_read_waits_for(scoped: Platform, dual: Manifest) -> None:
    assert status(scoped, dual).next_step.waits_for == "somebody to compare and publish it"
    compare(scoped, dual)
    assert status(scoped, dual).next_step.waits_for == "somebody to publish it"


def test_what_is_published_already_is_compared_without_a_trace(
    scoped: Platform, plan: Plan
) -> None:
    planned = plan("first")
    run(scoped, planned, "a")
    assert not compare(scoped, planned)
    assert "comparison" not in {one.kind for one in bundle(scoped, planned.run_id).records()}


@pytest.fixture
def old(scoped: Platform, plan: Plan) -> Manifest:
    """What the swapped table holds before."""
    manifest = plan("old", DAYS, SWAPPED)
    run(scoped, manifest, "a", "b")
    return manifest


def test_a_swap_leaves_no_day_to_another_run(scoped: Platform, plan: Plan, old: Manifest) -> None:
    new = plan("new", DAYS, SWAPPED)
    stage_by_hand(scoped, new, {**meters("a", "b", days=DAYS), DAYS.span.last: ("c",)})
    done = publish_all(scoped, new)
    assert done.changed == tuple(DAYS)
    assert shown(scoped, SWAPPED) == dict.fromkeys(DAYS, new.run_id)
    assert status(scoped, old).run.state is RunState.SUPERSEDED


def test_a_swap_for_the_same_table_commits_nothing(
    scoped: Platform, plan: Plan, old: Manifest
) -> None:
    before = open_target(scoped, SWAPPED).version()
    done = run(scoped, plan("new", DAYS, SWAPPED), "a", "b")
    assert (done.changed, open_target(scoped, SWAPPED).version()) == ((), before)


def test_a_swap_takes_days_away_that_the_new_table_leaves_empty(
    scoped: Platform, plan: Plan, old: Manifest
) -> None:
    new = plan("new", DAYS, SWAPPED)
    _, *others = DAYS
    stage_by_hand(scoped, new, dict.fromkeys(others, ("c",)))
    publish_all(scoped, new)
    assert shown(scoped, SWAPPED) == dict.fromkeys(others, new.run_id)


def test_a_swap_that_leaves_out_days_of_the_table_is_not_planned(
    scoped: Platform, plan: Plan, old: Manifest
) -> None:
    with pytest.raises(PlanRefused, match="2025-01-03, which it holds and would lose"):
        plan("new", PartitionSet.of_range(EARLY), SWAPPED)


def test_a_day_that_appeared_meanwhile_is_neither_kept_nor_lost(
    scoped: Platform, plan: Plan, old: Manifest
) -> None:
    new = plan("new", DAYS, SWAPPED)
    stage(scoped, new, "c")
    write_day(scoped.warehouse.table_path(SWAPPED), LATE.last, rows=1)
    with pytest.raises(TargetMoved, match="2025-01-06: expected an empty partition") as refused:
        publish_all(scoped, new)
    assert (refused.value.days, refused.value.versions) == ((LATE.last,), (2,))
    assert shown(scoped, SWAPPED)[DAYS.span.start] == old.run_id
    assert status(scoped, new).run.state is RunState.VALIDATED


def test_a_day_that_appeared_meanwhile_is_not_overlooked_where_all_others_are_equal(
    scoped: Platform, plan: Plan, old: Manifest
) -> None:
    new = plan("new", DAYS, SWAPPED)
    stage(scoped, new, "a", "b")
    write_day(scoped.warehouse.table_path(SWAPPED), LATE.last, rows=1)
    with pytest.raises(TargetMoved, match="2025-01-06"):
        publish_all(scoped, new)


def test_a_swap_is_rolled_back_in_one_commit(scoped: Platform, plan: Plan, old: Manifest) -> None:
    new = plan("new", DAYS, SWAPPED)
    run(scoped, new, "c")
    before = open_target(scoped, SWAPPED).version()
    roll_back(scoped, plan_rollback(scoped, rollback_of(new)).run_id)
    assert open_target(scoped, SWAPPED).version() == before + 1
    assert shown(scoped, SWAPPED) == dict.fromkeys(DAYS, old.run_id)


def test_a_part_of_a_swap_is_not_rolled_back(scoped: Platform, plan: Plan, old: Manifest) -> None:
    new = plan("new", DAYS, SWAPPED)
    run(scoped, new, "c")
    with pytest.raises(PlanRefused, match=r"2025-01-03 would stay; leave `--days` out"):
        plan_rollback(scoped, rollback_of(new, days=PartitionSet.of_range(EARLY)))


def test_a_swap_may_wait_for_a_comparison(scoped: Platform, plan: Plan, old: Manifest) -> None:
    new = plan("new", DAYS, SWAPPED, publish_scope=PublishScope.DUAL_READ)
    stage(scoped, new, "c")
    with pytest.raises(ApprovalMissing, match="Nobody has compared"):
        publish_all(scoped, new)
    compare(scoped, new)
    assert publish_all(scoped, new).changed == tuple(DAYS)


def rollback_of(manifest: Manifest, days: PartitionSet | None = None) -> RollbackRequest:
    return RollbackRequest(
        run_id=manifest.run_id, days=days, reason="tests", ticket="", requested_by="tests"
    )


def test_a_gap_between_the_ranges_stays_as_it_is(scoped: Platform, plan: Plan) -> None:
    between = plan("between", PartitionSet.of_range(DayRange.of_day(GAP)))
    run(scoped, between, "c")
    whole = plan("first")
    run(scoped, whole, "a")
    assert shown(scoped)[GAP] == between.run_id
