"""A rollback from its plan to its evidence. Spark stages the runs once; all else needs no JVM."""

import hashlib
import shutil
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from backfill_platform.domain.errors import (
    ApprovalMissing,
    ApprovalRefused,
    ChunkRefused,
    GateFailed,
    PlanRefused,
    RunStopped,
    RunUnknown,
    StagingIncomplete,
    TargetMoved,
)
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import ReplacedManifest
from backfill_platform.domain.measurements import EMPTY_CHECKSUM
from backfill_platform.domain.modes import ExecutionMode, Knowledge, RunKind
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.engine.carry_out.progress import supersede_runs
from backfill_platform.engine.carry_out.staging import stage_chunk
from backfill_platform.engine.carry_out.starting import open_run, start_run
from backfill_platform.engine.consent.approving import decide, draft_approval
from backfill_platform.engine.loading import load_manifest
from backfill_platform.engine.look.holdings import Held, check_holdings
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform, load_policy, open_platform
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform.engine.records import bundle
from backfill_platform.engine.rollback.planning import draft_rollback, plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.engine.rollback.shown_runs import shown_runs
from backfill_platform.ledger.migrate import migrate
from backfill_platform.planner.rollback import former_versions
from backfill_platform.planner.rollback_facts import RollbackRequest
from backfill_platform.settings import PROJECT, load_settings
from backfill_platform_tests.readings import BRONZE, START, land, week

NOBODY = Path(__file__).parent.parent / "policies" / "nobody.yaml"
ROWS = [("a", 1), ("b", 2)]
OTHER_ROWS = [("a", 10), ("b", 20), ("c", 30)]


def day(number: int) -> date:
    return START + timedelta(days=number - 1)


def days(first: int, last: int) -> DayRange:
    return DayRange.closed(day(first), day(last))


FIRST_WEEK = week()
FOREIGN = day(9)  # holds rows that no run wrote, until the second run replaces them
RESTATED = PartitionSet((days(3, 5), days(9, 9)))


def open_home(home: Path) -> Platform:
    settings = load_settings(
        home=home, catalog="backfill_platform_tests.readings:DECLARATIONS", governance=NOBODY
    )
    migrate(settings.ledger_url)
    return open_platform(settings)


def intent(origin: str, wanted: PartitionSet, kind: RunKind = RunKind.BACKFILL) -> Intent:
    return Intent(
        table=BRONZE,
        days=wanted,
        kind=kind,
        mode=ExecutionMode.BACKFILL,
        knowledge=Knowledge.UP_TO_SNAPSHOT,
        reason="tests",
        requested_by="tests",
        origin=origin,
        group_id=origin,
        computes_all=True,  # rows that are staged by hand are not what the inputs give
    )


def run_chunks(platform, spark, origin: str, *chunks: DayRange) -> None:
    wanted = PartitionSet.of_days(one for chunk in chunks for one in chunk)
    manifest = open_run(platform, intent(origin, wanted))
    for chunk in chunks:
        stage_chunk(platform, spark, manifest.run_id, chunk)
        publish_chunk(platform, manifest.run_id, chunk)


def append_foreign(platform: Platform, on: date, meter: str = "x") -> None:
    """What a writer who knows nothing of runs does."""
    rows = pa.table(
        {
            "day": pa.array([on], pa.date32()),
            "meter": [meter],
            "amount": pa.array([99], pa.int64()),
            "produced_by_run_id": ["somebody"],
            "transform_version": ["by hand"],
            "input_snapshot": ["none"],
            "processing_mode": ["LIVE"],
            "reference_data_version": pa.array([None], pa.string()),
        }
    )
    write_deltalake(target_of(platform), rows, mode="append")


@pytest.fixture(scope="module")
def restated(spark, tmp_path_factory) -> Path:
    """The first run filled a week; the second restated some of its days, in two commits."""
    home = tmp_path_factory.mktemp("restated")
    platform = open_home(home)
    land(platform.landing, FIRST_WEEK, ROWS)
    run_chunks(platform, spark, "first", FIRST_WEEK)
    append_foreign(platform, FOREIGN)
    land(platform.landing, RESTATED, OTHER_ROWS)
    run_chunks(platform, spark, "second", days(3, 4), days(5, 5), days(9, 9))
    platform.ledger.close()
    return home


@pytest.fixture(scope="module")
def restated_again(spark, restated, tmp_path_factory) -> Path:
    """A third run has replaced one of the days of the second."""
    home = shutil.copytree(restated, tmp_path_factory.mktemp("again") / "home")
    platform = open_home(home)
    land(platform.landing, days(4, 4), ROWS[:1])
    run_chunks(platform, spark, "third", days(4, 4))
    platform.ledger.close()
    return home


@pytest.fixture
def lake(restated, tmp_path) -> Platform:
    return open_home(shutil.copytree(restated, tmp_path / "home"))


@pytest.fixture
def superseded(restated_again, tmp_path) -> Platform:
    return open_home(shutil.copytree(restated_again, tmp_path / "home"))


@pytest.fixture
def governed(lake) -> Platform:
    """Under the policy that is shipped: a rollback needs one more person."""
    return replace(lake, policy=load_policy(PROJECT / "governance.yaml"))


def target_of(platform: Platform) -> Path:
    return platform.warehouse.table_path(BRONZE)


def run_of(platform: Platform, origin: str) -> RunId:
    record = platform.ledger.run_by_origin(origin)
    assert record is not None
    return record.run_id


def request(platform: Platform, origin: str, wanted: DayRange | None = None) -> RollbackRequest:
    return RollbackRequest(
        run_id=run_of(platform, origin),
        days=PartitionSet.of_range(wanted) if wanted else None,
        reason="wrong meters",
        requested_by="on-call",
    )


def undo(platform: Platform, origin: str, wanted: DayRange | None = None):
    manifest = plan_rollback(platform, request(platform, origin, wanted))
    return roll_back(platform, manifest.run_id)


def undo_run(platform: Platform, run_id: RunId):
    asked = RollbackRequest(run_id=run_id, days=None, reason="no", requested_by="on-call")
    return roll_back(platform, plan_rollback(platform, asked).run_id)


def rows(platform: Platform, version: int | None = None) -> list[tuple]:
    table = DeltaTable(target_of(platform), version=version).to_pyarrow_table()
    return sorted(tuple(map(str, row.values())) for row in table.to_pylist())


def contents(platform: Platform, version: int | None = None) -> dict[str, str]:
    """The digest of every active file, by its path."""
    paths = DeltaTable(target_of(platform), version=version).file_uris()
    return {path: hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in paths}


def version_of(platform: Platform) -> int:
    return DeltaTable(target_of(platform)).version()


def version_before(platform: Platform, origin: str) -> int:
    run_id = run_of(platform, origin)
    history = platform.ledger.accepted_history(BRONZE, day(3))
    return next(one.target_version for one in history if one.run_id == run_id) - 1


def reasons(platform: Platform, asked: RollbackRequest) -> str:
    """Of the refusal; nothing must have been recorded."""
    before = platform.ledger.runs(BRONZE)
    with pytest.raises(PlanRefused) as refused:
        plan_rollback(platform, asked)
    assert platform.ledger.runs(BRONZE) == before
    return "\n".join(refused.value.reasons)


def test_rows_and_files_are_those_before_the_run_byte_for_byte(lake):
    before = version_before(lake, "second")
    expected = rows(lake, before), contents(lake, before)
    undo(lake, "second")
    assert (rows(lake), contents(lake)) == expected


def test_a_rollback_is_one_commit_that_names_both_runs(lake):
    version = version_of(lake)
    done = undo(lake, "second")
    history = DeltaTable(target_of(lake)).history(1)[0]["userMetadata"]
    assert done.version == version + 1 == version_of(lake)
    assert f'"undoes":"{run_of(lake, "second")}"' in history
    assert f'"run_id":"{done.manifest.run_id}"' in history


def test_spark_and_delta_rs_agree_on_what_came_back(lake, spark):
    undo(lake, "second")
    table = spark.read.format("delta").load(str(target_of(lake)))
    found = sorted(tuple(map(str, row)) for row in table.collect())
    assert found == rows(lake)


def test_a_rollback_walks_the_road_of_every_run(lake):
    done = undo(lake, "second")
    states = [event.to_state for event in lake.ledger.events(done.manifest.run_id)]
    assert states == [
        RunState.PLANNED,
        RunState.APPROVED,
        RunState.STAGING,
        RunState.STAGED,
        RunState.VALIDATED,
        RunState.PUBLISHING,
        RunState.PUBLISHED,
    ]


def test_the_undone_run_says_by_which_rollback(lake):
    done = undo(lake, "second")
    undone = lake.ledger.run(run_of(lake, "second"))
    assert undone.state is RunState.ROLLED_BACK
    assert undone.superseded_by_run_id == done.manifest.run_id
    assert done.manifest.undoes == ReplacedManifest(
        run_id=undone.run_id, manifest_digest=undone.manifest_digest
    )


def test_the_accepted_history_tells_the_whole_story(lake):
    done = undo(lake, "second")
    first, second, back = lake.ledger.accepted_history(BRONZE, day(4))
    assert [first.run_id, second.run_id] == [run_of(lake, "first"), run_of(lake, "second")]
    assert second.superseded_by_run_id == back.run_id == done.manifest.run_id
    assert (back.row_count, back.checksum) == (first.row_count, first.checksum)
    assert (back.superseded_at, back.target_version) == (None, done.version)


def test_rows_that_no_run_wrote_come_back_and_are_named_by_their_files(lake):
    undo(lake, "second")
    (seen,) = lake.ledger.accepted(BRONZE, [FOREIGN]).values()
    assert ("2025-01-09", "x", "99") in [row[:3] for row in rows(lake)]
    assert (seen.row_count, seen.checksum[:6]) == (1, "files:")


def test_behind_a_rollback_stands_the_run_whose_files_came_back(lake):
    first, second = run_of(lake, "first"), run_of(lake, "second")
    wanted = [day(2), day(4), FOREIGN]
    before = shown_runs(lake.ledger, BRONZE, wanted)
    undo(lake, "second")
    assert before == {day(2): first, day(4): second, FOREIGN: second}
    assert shown_runs(lake.ledger, BRONZE, wanted) == {day(2): first, day(4): first}


def test_a_day_that_held_nothing_becomes_empty(lake):
    undo(lake, "first", days(1, 2))
    seen = lake.ledger.accepted(BRONZE, days(1, 2)).values()
    assert {(one.row_count, one.checksum) for one in seen} == {(0, EMPTY_CHECKSUM)}
    assert not [row for row in rows(lake) if row[0] < "2025-01-03"]


def test_each_day_returns_to_the_version_before_its_own_commit(lake):
    before = version_before(lake, "second")
    manifest = draft_rollback(lake, request(lake, "second"))
    assert former_versions(manifest) == {
        day(3): before,
        day(4): before,
        day(5): before + 1,
        FOREIGN: before + 2,
    }


def test_a_partial_rollback_leaves_the_other_days_and_the_run_published(lake):
    others = [row for row in rows(lake) if row[0] != "2025-01-03"]
    undo(lake, "second", days(3, 3))
    assert [row for row in rows(lake) if row[0] != "2025-01-03"] == others
    assert lake.ledger.run(run_of(lake, "second")).state is RunState.PUBLISHED


def test_without_days_the_rest_of_a_partial_rollback_follows(lake):
    undo(lake, "second", days(3, 3))
    done = undo(lake, "second")
    assert done.manifest.target.partitions == PartitionSet((days(4, 5), days(9, 9)))
    assert done.undone.state is RunState.ROLLED_BACK


def test_a_rollback_is_rolled_back(lake):
    expected = rows(lake)
    done = undo(lake, "second")
    undo_run(lake, done.manifest.run_id)
    assert rows(lake) == expected
    assert lake.ledger.run(done.manifest.run_id).state is RunState.ROLLED_BACK


def test_days_that_a_later_run_replaced_are_refused_and_it_is_named(superseded):
    third = run_of(superseded, "third")
    said = reasons(superseded, request(superseded, "second"))
    assert f"2025-01-04 is no longer owed to {run_of(superseded, 'second')} but to {third}" in said
    assert f"`backfill rollback {third}`" in said
    assert '--days "2025-01-03, 2025-01-05, 2025-01-09"' in said


def test_behind_a_rolled_back_run_the_one_before_it_can_be_undone(superseded):
    before = version_before(superseded, "second")
    expected = rows(superseded, before)
    undo(superseded, "third")
    done = undo(superseded, "second")
    assert rows(superseded) == expected
    assert done.undone.state is RunState.ROLLED_BACK


def test_the_first_rollback_is_superseded_by_the_one_behind_it(superseded):
    first = undo(superseded, "third")
    second = undo(superseded, "second")
    record = superseded.ledger.run(first.manifest.run_id)
    assert (record.state, record.superseded_by_run_id) == (
        RunState.SUPERSEDED,
        second.manifest.run_id,
    )


def test_days_that_somebody_else_wrote_to_are_refused(lake):
    append_foreign(lake, day(4))
    said = reasons(lake, request(lake, "second"))
    assert f"2025-01-04 no longer holds what {run_of(lake, 'second')} left there" in said


def test_a_write_after_the_plan_refuses_and_frees_the_partitions(lake):
    manifest = plan_rollback(lake, request(lake, "second"))
    append_foreign(lake, day(4))
    before = rows(lake)
    with pytest.raises(TargetMoved):
        roll_back(lake, manifest.run_id)
    assert rows(lake) == before
    assert lake.ledger.run(manifest.run_id).state is RunState.CANCELLED
    assert lake.ledger.runs_in_flight(BRONZE, lake.clock()) == ()


def file_before(platform: Platform, on: date) -> Path:
    paths = DeltaTable(target_of(platform), version=version_before(platform, "second")).file_uris()
    return next(Path(path) for path in paths if f"day={on}" in path)


def test_files_that_were_vacuumed_are_refused_with_the_time_until_it_was_possible(lake):
    file_before(lake, day(4)).unlink()
    said = reasons(lake, request(lake, "second"))
    until = lake.clock() + timedelta(days=30)
    assert "1 of the files that 2025-01-04 held before are gone" in said
    assert f"that was sure until {until:%Y-%m-%d}" in said


def test_a_file_that_goes_after_the_plan_stops_it_until_it_is_back(lake):
    manifest = plan_rollback(lake, request(lake, "second"))
    file = file_before(lake, day(4))
    content = file.read_bytes()
    file.unlink()
    before = rows(lake)
    with pytest.raises(StagingIncomplete, match="is missing"):
        roll_back(lake, manifest.run_id)
    assert rows(lake) == before
    file.write_bytes(content)
    roll_back(lake, manifest.run_id)
    assert lake.ledger.run(manifest.run_id).state is RunState.PUBLISHED


def test_a_rollback_is_refused_without_the_consent_that_the_policy_asks_for(governed):
    manifest = plan_rollback(governed, request(governed, "second"))
    before = rows(governed), version_of(governed)
    with pytest.raises(ApprovalMissing, match="needs the approval of incident"):
        roll_back(governed, manifest.run_id)
    assert (rows(governed), version_of(governed)) == before
    assert governed.ledger.run(manifest.run_id).state is RunState.AWAITING_APPROVAL


def test_with_a_second_person_it_goes_ahead(governed):
    manifest = plan_rollback(governed, request(governed, "second"))
    decide(governed, draft_approval(governed, manifest.run_id, principal="manager"))
    done = roll_back(governed, manifest.run_id)
    assert done.undone.state is RunState.ROLLED_BACK


def test_who_asks_for_a_rollback_cannot_agree_to_it(governed):
    asked = replace(request(governed, "second"), requested_by="manager")
    manifest = plan_rollback(governed, asked)
    with pytest.raises(ApprovalRefused):
        decide(governed, draft_approval(governed, manifest.run_id, principal="manager"))


def test_rolling_back_twice_equals_once(lake):
    done = undo(lake, "second")
    again = undo(lake, "second")
    assert again == done
    assert version_of(lake) == done.version
    assert len(lake.ledger.accepted_history(BRONZE, day(4))) == 3


def test_a_rollback_that_waits_is_joined_by_whoever_asks_again(governed):
    planned = plan_rollback(governed, request(governed, "second"))
    again = replace(request(governed, "second"), reason="another", requested_by="another")
    assert plan_rollback(governed, again) == planned


class DyingLedger:
    """A ledger that is lost between the commit and the fact."""

    def __init__(self, ledger) -> None:
        self._ledger = ledger

    def __getattr__(self, name):
        return getattr(self._ledger, name)

    def record_fact(self, *_given, **_named):
        raise ConnectionError("the ledger is gone")


class MeddledLedger:
    """A ledger in which somebody else looks for superseded runs as soon as a fact is recorded."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    def __getattr__(self, name):
        return getattr(self._platform.ledger, name)

    def record_fact(self, *given, **named):
        record = self._platform.ledger.record_fact(*given, **named)
        first = load_manifest(self._platform, run_of(self._platform, "first"))
        supersede_runs(self._platform, first)
        return record


def test_an_undone_run_is_rolled_back_whoever_looks_first(lake):
    manifest = plan_rollback(lake, request(lake, "second"))
    done = roll_back(replace(lake, ledger=MeddledLedger(lake)), manifest.run_id)
    assert done.undone.state is RunState.ROLLED_BACK
    assert done.undone.superseded_by_run_id == manifest.run_id
    assert lake.ledger.events(done.undone.run_id)[-1].details == {"rolled_back_by": manifest.run_id}


def test_after_a_crash_between_commit_and_fact_a_rollback_converges(governed):
    manifest = plan_rollback(governed, request(governed, "second"))
    decide(governed, draft_approval(governed, manifest.run_id, principal="manager"))
    with pytest.raises(ConnectionError):
        roll_back(replace(governed, ledger=DyingLedger(governed.ledger)), manifest.run_id)
    landed = version_of(governed)
    after_the_consent = governed.clock() + timedelta(days=5)
    done = roll_back(replace(governed, clock=lambda: after_the_consent), manifest.run_id)
    assert (done.version, version_of(governed)) == (landed, landed)
    assert done.undone.state is RunState.ROLLED_BACK
    assert governed.ledger.run(manifest.run_id).state is RunState.PUBLISHED
    assert governed.ledger.open_intents() == ()


def test_a_rollback_that_nobody_carried_out_in_time_is_planned_anew(governed):
    manifest = plan_rollback(governed, request(governed, "second"))
    later = replace(governed, clock=lambda: manifest.valid_until)
    anew = plan_rollback(later, request(governed, "second"))
    assert anew.run_id != manifest.run_id
    assert governed.ledger.run(manifest.run_id).state is RunState.EXPIRED
    with pytest.raises(RunStopped):
        roll_back(later, manifest.run_id)


def test_a_run_in_flight_on_the_same_days_refuses_the_plan(lake):
    other = plan_run(lake, intent("other", PartitionSet.of_range(days(4, 4))))
    assert f"run {other.run_id} of tests is PLANNED and may publish 2025-01-04" in reasons(
        lake, request(lake, "second")
    )


def test_a_planned_rollback_holds_its_days_against_others(lake):
    manifest = plan_rollback(lake, request(lake, "second"))
    with pytest.raises(PlanRefused, match=manifest.run_id):
        plan_run(lake, intent("other", PartitionSet.of_range(days(4, 4))))


def test_a_run_that_published_nothing_cannot_be_undone(lake):
    plan_run(lake, intent("planned", PartitionSet.of_range(days(6, 7))))
    assert "is PLANNED and has published nothing" in reasons(lake, request(lake, "planned"))


def test_an_unknown_run_cannot_be_undone(lake):
    unknown = RollbackRequest(
        run_id=RunId("bf-20260704-readings-1.0.0-999"), days=None, reason="r", requested_by="me"
    )
    with pytest.raises(RunUnknown):
        plan_rollback(lake, unknown)


def test_an_ordinary_run_is_not_carried_out_as_a_rollback(lake):
    with pytest.raises(GateFailed, match="is no rollback"):
        roll_back(lake, run_of(lake, "second"))


def test_a_draft_writes_nothing(lake):
    before = lake.ledger.runs(BRONZE)
    drafted = draft_rollback(lake, request(lake, "second"))
    assert lake.ledger.runs(BRONZE) == before
    assert not bundle(lake, drafted.run_id).folder.exists()


def test_the_evidence_of_both_runs_names_the_other_and_holds(lake):
    done = undo(lake, "second")
    rollback, second = done.manifest.run_id, run_of(lake, "second")
    (own,) = [one for one in bundle(lake, rollback).records() if one.kind == "rollback"]
    (of_undone,) = [one for one in bundle(lake, second).records() if one.kind == "rolled_back"]
    assert (own.body["undoes"], of_undone.body["rolled_back_by"]) == (second, rollback)
    assert [bundle(lake, one).verify() for one in (rollback, second)] == [None, None]
    assert [lake.ledger.verify_run(one) for one in (rollback, second)] == [(), ()]


def test_a_rollback_is_neither_computed_nor_published_like_an_ordinary_run(lake):
    manifest = plan_rollback(lake, request(lake, "second"))
    with pytest.raises(ChunkRefused, match="backfill rollback"):
        start_run(lake, manifest.run_id)
    with pytest.raises(ChunkRefused, match="backfill rollback"):
        publish_chunk(lake, manifest.run_id, days(3, 5))


def test_what_equals_the_returned_content_is_not_published_again(lake, spark):
    undo(lake, "second", days(3, 5))
    land(lake.landing, days(3, 5), ROWS)
    before = version_of(lake)
    run_chunks(lake, spark, "as before", days(3, 5))
    assert version_of(lake) == before


def test_the_table_holds_what_a_rollback_made_visible(lake):
    manifest = plan_rollback(lake, request(lake, "second"))
    roll_back(lake, manifest.run_id)
    held = check_holdings(
        lake.ledger, lake.warehouse, manifest.run_id, BRONZE, manifest.target.partitions
    )
    assert {one.held for one in held} == {Held.AS_ACCEPTED}
    assert {one.day for one in held} == set(RESTATED)
