"""What a crash left half done is finished as the target's log decides. Runs are staged by hand."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Barrier
from typing import Any

import pytest
from deltalake import DeltaTable

from backfill_platform.domain.chunks import ClaimedChunk
from backfill_platform.domain.errors import EngineUnavailable, LostRace, PartitionsFenced
from backfill_platform.domain.fences import Fence
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import ChunkStatus, RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.runs import PublicationFact, PublicationIntent
from backfill_platform.engine.carry_out.progress import begin_publishing, begin_staging
from backfill_platform.engine.carry_out.starting import start_run
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish import publishing
from backfill_platform.engine.publish.publishing import build_publication, publish_chunk
from backfill_platform.engine.records import bundle
from backfill_platform.engine.recover.liveness import is_gone
from backfill_platform.engine.recover.recovering import (
    Recovery,
    find_half_done,
    recover,
    recover_run,
)
from backfill_platform.engine.recover.remedies import (
    EndReplaced,
    FreeChunk,
    GiveUp,
    RecordLanding,
)
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.planner.rollback_facts import RollbackRequest
from backfill_platform.publisher.replace_partitions import publish
from backfill_platform_tests.engine.by_hand import Meters, run_by_hand, stage_by_hand
from backfill_platform_tests.engine.losing import losing
from backfill_platform_tests.readings import BRONZE, week

S = RunState
DAYS = week(days=3)
ONE, REST = week(days=1), DayRange(DAYS.start + timedelta(days=1), DAYS.end_exclusive)
Plan = Callable[..., Manifest]


@pytest.fixture
def plan(platform: Platform, intent) -> Plan:
    def make(origin: str, days: DayRange = DAYS) -> Manifest:
        return plan_run(platform, intent(BRONZE, days, origin))

    return make


@pytest.fixture
def staged(platform: Platform, plan: Plan) -> Manifest:
    manifest = plan("run")
    stage_by_hand(platform, manifest, meters("a", "b"))
    return manifest


def meters(*names: str, days: DayRange = DAYS) -> Meters:
    return dict.fromkeys(days, names)


def later(platform: Platform, **passed: int) -> Platform:
    now: datetime = platform.clock() + timedelta(**passed)
    return replace(platform, clock=lambda: now)


def state(platform: Platform, run_id: RunId) -> RunState:
    return platform.ledger.run(run_id).state


def statuses(platform: Platform, run_id: RunId) -> set[ChunkStatus]:
    return {chunk.status for chunk in platform.ledger.chunks(run_id)}


def version(platform: Platform) -> int:
    return DeltaTable(platform.warehouse.table_path(BRONZE)).version()


def lose_the_fact(platform: Platform, manifest: Manifest) -> None:
    """It lands, and the ledger is gone."""
    with suppress(ConnectionError):
        publish_chunk(losing(platform, "record_fact"), manifest.run_id, DAYS)


def lose_the_commit(
    platform: Platform, manifest: Manifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is intended, and the storage is gone."""

    def unavailable(*_: Any, **__: Any) -> None:
        raise EngineUnavailable("the storage is gone")

    with monkeypatch.context() as patched, suppress(EngineUnavailable):
        patched.setattr(publishing, "publish", unavailable)
        publish_chunk(platform, manifest.run_id, DAYS)


def intend(platform: Platform, manifest: Manifest) -> Fence:
    """As far as a publication comes before its commit, with the fence that it then holds."""
    fence = platform.ledger.acquire_fence(
        manifest.run_id,
        BRONZE,
        PartitionSet.of_range(DAYS),
        gives_way=False,
        lease_seconds=120,
        now=platform.clock(),
    )
    begin_publishing(platform, manifest.run_id)
    publication = build_publication(platform, manifest, DAYS, tuple(DAYS))
    intent = PublicationIntent(
        publication_id=publication.publication_id,
        run_id=manifest.run_id,
        table=BRONZE,
        days=tuple(DAYS),
        base=publication.base,
        files_count=len(publication.files),
    )
    platform.ledger.record_intent(intent, now=platform.clock())
    return fence


def dead_worker() -> str:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    host, _, _ = _own_worker().rpartition(":")
    return f"{host}:{child.pid}"


def _own_worker() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def test_what_landed_is_recorded_with_all_that_follows(
    platform: Platform, staged: Manifest
) -> None:
    lose_the_fact(platform, staged)
    done = recover_run(platform, staged.run_id)
    assert RecordLanding in {type(remedy) for remedy in done.remedies}
    assert state(platform, staged.run_id) is S.PUBLISHED
    assert statuses(platform, staged.run_id) == {ChunkStatus.PUBLISHED}
    assert {one.run_id for one in platform.ledger.accepted(BRONZE, DAYS).values()} == {
        staged.run_id
    }
    told = bundle(platform, staged.run_id).records()[-1]
    assert told.body["changed"] == [day.isoformat() for day in DAYS]
    assert platform.ledger.verify_run(staged.run_id) == ()


def test_what_did_not_land_is_given_up_and_may_be_published_again(
    platform: Platform, staged: Manifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose_the_commit(platform, staged, monkeypatch)
    done = recover_run(platform, staged.run_id)
    assert GiveUp in {type(remedy) for remedy in done.remedies}
    assert (done.state, platform.ledger.open_intents()) == (S.VALIDATED, ())
    assert publish_chunk(platform, staged.run_id, DAYS).changed == tuple(DAYS)
    assert state(platform, staged.run_id) is S.PUBLISHED


def test_recovering_twice_equals_once(platform: Platform, staged: Manifest) -> None:
    lose_the_fact(platform, staged)
    recover(platform)
    before = platform.ledger.events(staged.run_id), bundle(platform, staged.run_id).records()
    assert all(one.is_well for one in recover(platform))
    after = platform.ledger.events(staged.run_id), bundle(platform, staged.run_id).records()
    assert after == before


def test_two_that_recover_at_once_leave_what_one_would(
    platform: Platform, staged: Manifest
) -> None:
    lose_the_fact(platform, staged)
    together = Barrier(2)

    def recover_together(_: int) -> Recovery:
        together.wait(60)
        return recover_run(platform, staged.run_id)

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(recover_together, range(2)))
    assert [one.state for one in done] == [S.PUBLISHED, S.PUBLISHED]
    assert len(platform.ledger.accepted_history(BRONZE, DAYS.start)) == 1
    kinds = [one.kind for one in bundle(platform, staged.run_id).records()]
    assert kinds.count("publication") == 1
    assert platform.ledger.verify_run(staged.run_id) == ()


def test_whoever_comes_too_late_looks_again(platform: Platform, staged: Manifest) -> None:
    lose_the_fact(platform, staged)

    def outrun(run_id: RunId, days: DayRange, *, now: datetime) -> bool:
        if statuses(platform, run_id) == {ChunkStatus.PUBLISHED}:
            return False
        platform.ledger.mark_chunk_published(run_id, days, now=now)
        raise LostRace("somebody was quicker")

    recover_run(losing(platform, "mark_chunk_published", outrun), staged.run_id)
    assert state(platform, staged.run_id) is S.PUBLISHED


def test_a_publication_that_may_be_at_work_is_left_alone(
    platform: Platform, staged: Manifest
) -> None:
    intend(platform, staged)
    found = recover_run(platform, staged.run_id)
    assert (found.remedies, found.state) == ((), S.PUBLISHING)
    assert "its fence holds until" in found.left_alone[0]


def test_when_its_fence_has_ended_nobody_is_at_work_on_it(
    platform: Platform, staged: Manifest
) -> None:
    intend(platform, staged)
    found = recover_run(later(platform, minutes=3), staged.run_id)
    assert (found.state, found.left_alone) == (S.VALIDATED, ())


def test_for_the_fence_of_a_worker_that_is_gone_nobody_waits(
    platform: Platform, staged: Manifest
) -> None:
    intend(replace(platform, worker=dead_worker()), staged)
    assert recover_run(platform, staged.run_id).state is S.VALIDATED


def test_whose_publication_was_given_up_can_commit_no_more(
    platform: Platform, staged: Manifest
) -> None:
    fence = intend(replace(platform, worker=dead_worker()), staged)
    platform.ledger.refuse_stale(fence, now=platform.clock())
    recover_run(platform, staged.run_id)
    with pytest.raises(PartitionsFenced):
        platform.ledger.refuse_stale(fence, now=platform.clock())


def test_what_landed_after_it_was_given_up_is_recorded_all_the_same(
    platform: Platform, staged: Manifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose_the_commit(platform, staged, monkeypatch)
    recover_run(platform, staged.run_id)
    publish(
        platform.warehouse.table_path(BRONZE),
        platform.warehouse.staging_path(BRONZE, staged.run_id),
        build_publication(platform, staged, DAYS, tuple(DAYS)),
    )
    done = recover_run(platform, staged.run_id)
    assert done.state is S.PUBLISHED
    (told,) = platform.ledger.publications(staged.run_id)
    assert (told.outcome, told.version) == (PublicationFact.LANDED, version(platform))


def test_recovery_publishes_nothing(
    platform: Platform, staged: Manifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose_the_commit(platform, staged, monkeypatch)
    before = version(platform)
    recover(platform)
    assert version(platform) == before


def test_a_look_writes_nothing(platform: Platform, staged: Manifest) -> None:
    lose_the_fact(platform, staged)
    before = platform.ledger.events(staged.run_id), platform.ledger.open_intents()
    (found,) = find_half_done(platform)
    assert "landed in version" in str(found.remedies[0])
    assert (platform.ledger.events(staged.run_id), platform.ledger.open_intents()) == before


def test_half_of_a_run_that_landed_stays_and_the_other_may_be_published(
    platform: Platform, plan: Plan
) -> None:
    manifest = plan("run")
    stage_by_hand(platform, manifest, meters("a"), chunks=(ONE, REST))
    publish_chunk(platform, manifest.run_id, ONE)
    done = recover_run(platform, manifest.run_id)
    assert (done.state, platform.ledger.covered_days(manifest.run_id, {ChunkStatus.PUBLISHED})) == (
        S.VALIDATED,
        frozenset(ONE),
    )
    publish_chunk(platform, manifest.run_id, REST)
    assert state(platform, manifest.run_id) is S.PUBLISHED


def test_a_run_that_lost_its_last_partition_is_told_so(platform: Platform, plan: Plan) -> None:
    first = plan("first")
    run_by_hand(platform, first, meters("a"))
    second = plan("second")
    stage_by_hand(platform, second, meters("b"))
    with suppress(ConnectionError):
        publish_chunk(losing(platform, "replaced_runs"), second.run_id, DAYS)
    done = recover_run(platform, first.run_id)
    assert done.remedies == (EndReplaced(taken_by=second.run_id),)
    assert state(platform, first.run_id) is S.SUPERSEDED


def test_a_rollback_that_landed_is_finished(platform: Platform, staged: Manifest) -> None:
    publish_chunk(platform, staged.run_id, DAYS)
    rollback = plan_undoing(platform, staged)
    with suppress(ConnectionError):
        roll_back(losing(platform, "record_fact"), rollback.run_id)
    landed = version(platform)
    recover(platform)
    assert (state(platform, staged.run_id), state(platform, rollback.run_id)) == (
        S.ROLLED_BACK,
        S.PUBLISHED,
    )
    assert "rolled_back" in [one.kind for one in bundle(platform, staged.run_id).records()]
    assert (version(platform), platform.ledger.open_intents()) == (landed, ())


def test_a_rollback_that_did_not_land_may_be_carried_out_again(
    platform: Platform, staged: Manifest
) -> None:
    publish_chunk(platform, staged.run_id, DAYS)
    rollback = plan_undoing(platform, staged)
    with suppress(ConnectionError):
        roll_back(losing(platform, "refuse_stale"), rollback.run_id)
    assert recover_run(platform, rollback.run_id).state is S.VALIDATED
    assert roll_back(platform, rollback.run_id).undone.state is S.ROLLED_BACK


def plan_undoing(platform: Platform, undone: Manifest) -> Manifest:
    request = RollbackRequest(run_id=undone.run_id, days=None, reason="r", requested_by="me")
    return plan_rollback(platform, request)


def claim(platform: Platform, manifest: Manifest, *, worker: str) -> ClaimedChunk:
    start_run(platform, manifest.run_id)
    claimed = platform.ledger.claim_chunk(
        manifest.run_id, DAYS, worker=worker, lease_seconds=60, now=platform.clock()
    )
    assert isinstance(claimed, ClaimedChunk)
    begin_staging(platform, manifest)
    return claimed


def test_a_chunk_whose_lease_has_ended_may_be_computed_again(
    platform: Platform, plan: Plan
) -> None:
    manifest = plan("run")
    claim(platform, manifest, worker="elsewhere:1")
    done = recover_run(later(platform, minutes=2), manifest.run_id)
    assert FreeChunk in {type(remedy) for remedy in done.remedies}
    assert (done.state, statuses(platform, manifest.run_id)) == (S.FAILED, {ChunkStatus.FAILED})
    run_by_hand(platform, manifest, meters("a"))
    assert state(platform, manifest.run_id) is S.PUBLISHED


def test_for_the_lease_of_a_worker_that_is_gone_nobody_waits(
    platform: Platform, plan: Plan
) -> None:
    manifest = plan("run")
    claim(platform, manifest, worker=dead_worker())
    assert recover_run(platform, manifest.run_id).state is S.FAILED


@pytest.mark.parametrize(
    "worker", ["elsewhere:1", "somebody", _own_worker()], ids=["elsewhere", "somebody", "ourselves"]
)
def test_a_chunk_that_may_be_at_work_is_left_alone(
    platform: Platform, plan: Plan, worker: str
) -> None:
    manifest = plan("run")
    claim(platform, manifest, worker=worker)
    assert recover_run(platform, manifest.run_id).is_well
    assert statuses(platform, manifest.run_id) == {ChunkStatus.CLAIMED}


def test_a_run_is_brought_to_where_its_chunks_are(platform: Platform, plan: Plan) -> None:
    manifest = plan("run")
    with suppress(ConnectionError):
        stage_by_hand(losing(platform, "move", to(S.STAGED)), manifest, meters("a"))
    assert state(platform, manifest.run_id) is S.STAGING
    assert recover_run(platform, manifest.run_id).state is S.VALIDATED


def test_a_run_whose_chunk_failed_says_so(platform: Platform, plan: Plan) -> None:
    manifest = plan("run")
    claimed = claim(platform, manifest, worker="w")
    platform.ledger.fail_chunk(
        manifest.run_id,
        claimed.chunk_id,
        claimed.fencing_token,
        error="killed",
        now=platform.clock(),
    )
    assert recover_run(platform, manifest.run_id).state is S.FAILED


def to(wanted: RunState) -> Callable[..., bool]:
    return lambda _run_id, _from_state, to_state, **_: to_state is wanted


def test_evidence_that_was_never_written_is_kept(platform: Platform, plan: Plan) -> None:
    manifest = plan("run")
    kept = bundle(platform, manifest.run_id)
    kept.records_path.unlink()
    kept.manifest_path.unlink()
    recover_run(platform, manifest.run_id)
    assert [one.kind for one in kept.records()] == ["plan"]
    assert kept.manifest_path.read_text() == platform.ledger.run(manifest.run_id).manifest_json


def test_a_publication_that_changed_nothing_is_in_the_evidence_too(
    platform: Platform, plan: Plan
) -> None:
    run_by_hand(platform, plan("first"), meters("a"))
    again = plan("again")
    stage_by_hand(platform, again, meters("a"))
    with suppress(ConnectionError):
        publish_chunk(losing(platform, "move", to(S.PUBLISHED)), again.run_id, DAYS)
    recover_run(platform, again.run_id)
    told = bundle(platform, again.run_id).records()[-1]
    assert (told.body["changed"], told.body["delta_version"]) == ([], None)
    assert told.body["unchanged"] == [day.isoformat() for day in DAYS]


def test_a_compaction_that_was_seen_through_is_told_in_the_evidence(
    platform: Platform, plan: Plan
) -> None:
    run_by_hand(platform, plan("first"), meters("a", "b"))
    second = plan("second")
    stage_by_hand(platform, second, meters("c"))
    DeltaTable(platform.warehouse.table_path(BRONZE)).optimize.z_order(["meter"])
    compacted = version(platform)
    lose_the_fact(platform, second)
    recover_run(platform, second.run_id)
    told = bundle(platform, second.run_id).records()[-1].body["compaction"]
    assert told == {"days": [day.isoformat() for day in DAYS], "versions": [compacted]}


def test_a_problem_with_one_run_stops_no_other(
    platform: Platform, plan: Plan, staged: Manifest
) -> None:
    lose_the_fact(platform, staged)
    broken = plan("broken", week(DAYS.end_exclusive, 1))
    bundle(platform, broken.run_id).records_path.write_text("nonsense\n")
    found = {one.run_id: one for one in recover(platform)}
    assert "evidence-broken" in found[broken.run_id].problem
    assert found[staged.run_id].state is S.PUBLISHED


def test_a_run_that_was_never_disturbed_is_well(platform: Platform, staged: Manifest) -> None:
    assert recover_run(platform, staged.run_id).is_well
    publish_chunk(platform, staged.run_id, DAYS)
    assert recover_run(platform, staged.run_id).is_well


@pytest.mark.parametrize(
    "worker",
    [_own_worker(), "elsewhere:1", "desk", f"{socket.gethostname()}:0"],
    ids=["ourselves", "elsewhere", "desk", "process 0"],
)
def test_of_no_other_worker_is_it_known_that_it_is_gone(worker: str) -> None:
    assert not is_gone(worker)


def test_a_process_of_this_machine_that_has_ended_is_gone() -> None:
    assert is_gone(dead_worker())
