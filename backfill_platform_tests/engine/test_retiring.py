"""Retention carried out on real files: what goes, what stays, and that no crash and no rollback in
between harms anybody. Runs are staged by hand; no JVM."""

import hashlib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from deltalake import DeltaTable

from backfill_platform.domain.errors import (
    DeclarationInvalid,
    LostRace,
    PlanRefused,
    RunStopped,
)
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import ExecutionMode
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.retirements import Retention, RetirementReason
from backfill_platform.engine.carry_out.controlling import cancel_run
from backfill_platform.engine.carry_out.progress import begin_staging, fail_run, move_run
from backfill_platform.engine.carry_out.starting import start_run
from backfill_platform.engine.plan.planning import plan_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.records import bundle
from backfill_platform.engine.retire.retiring import Retired, find_retirable, retire
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform.lakehouse.removal import remove_files
from backfill_platform.planner.rollback_facts import RollbackRequest
from backfill_platform_tests.engine.by_hand import Meters, run_by_hand, stage_by_hand, write_rows
from backfill_platform_tests.readings import BRONZE, SILVER, week

R, S = RetirementReason, RunState
DAYS = week(days=3)
FIRST_DAY = DAYS.start
RETENTION = Retention(abandoned_after_days=7, superseded_after_days=30)
Plan = Callable[..., Manifest]


@pytest.fixture
def lake(platform: Platform) -> Platform:
    return replace(platform, policy=replace(platform.policy, retention=RETENTION))


@pytest.fixture
def plan(lake: Platform, intent) -> Plan:
    def make(origin: str, days: DayRange = DAYS, table: str = BRONZE, **said: Any) -> Manifest:
        return plan_run(lake, intent(table, days, origin, **said))

    return make


@pytest.fixture
def staged(lake: Platform, plan: Plan) -> Manifest:
    manifest = plan("staged")
    stage_by_hand(lake, manifest, meters("a", "b"))
    return manifest


@pytest.fixture
def cancelled(lake: Platform, staged: Manifest) -> Manifest:
    cancel(lake, staged)
    return staged


@pytest.fixture
def replaced(lake: Platform, plan: Plan) -> tuple[Manifest, Manifest]:
    """The second run has replaced all that the first one published."""
    first = plan("first")
    run_by_hand(lake, first, meters("a", "b"))
    second = plan("second")
    run_by_hand(lake, second, meters("a", "b", "c"))
    return first, second


def meters(*names: str, days: DayRange = DAYS) -> Meters:
    return dict.fromkeys(days, names)


def cancel(platform: Platform, manifest: Manifest) -> None:
    cancel_run(
        platform.ledger,
        platform.evidence,
        manifest.run_id,
        actor="ana",
        reason="wrong month",
        now=platform.clock(),
    )


def later(platform: Platform, **passed: float) -> Platform:
    now = platform.clock() + timedelta(**passed)
    return replace(platform, clock=lambda: now)


def target(platform: Platform) -> Path:
    return platform.warehouse.table_path(BRONZE)


def folder(platform: Platform, manifest: Manifest) -> Path:
    return platform.warehouse.staging_path(BRONZE, manifest.run_id)


def files(path: Path) -> dict[str, str]:
    """Each with the digest of its content."""
    return {
        found.relative_to(path).as_posix(): hashlib.sha256(found.read_bytes()).hexdigest()
        for found in path.rglob("*")
        if found.is_file()
    }


def rows(platform: Platform) -> list[tuple[Any, ...]]:
    table = DeltaTable(target(platform)).to_pyarrow_table()
    return sorted((row["day"], row["meter"]) for row in table.to_pylist())


def found(platform: Platform) -> Retired:
    (one,) = find_retirable(platform, (BRONZE,))
    assert one.problem == ""
    return one


def retired(platform: Platform, **said: Any) -> Retired:
    (one,) = retire(platform, (BRONZE,), actor="ana", **said)
    assert one.problem == ""
    return one


def obstacle(one: Retired) -> str:
    assert one.plan is not None
    return one.plan.obstacle


def would_go(platform: Platform) -> set[tuple[str | None, RetirementReason]]:
    look = found(platform).plan
    assert look is not None
    return {(part.run_id, part.reason) for part in look.parts}


def state(platform: Platform, run_id: RunId) -> RunState:
    return platform.ledger.run(run_id).state


def undo(manifest: Manifest) -> RollbackRequest:
    return RollbackRequest(
        run_id=manifest.run_id, days=None, reason="wrong meters", requested_by="on-call"
    )


def kinds(platform: Platform, manifest: Manifest) -> list[str]:
    return [record.kind for record in bundle(platform, manifest.run_id).records()]


# What goes.


def test_the_folder_of_an_ended_run_goes_whole(lake: Platform, cancelled: Manifest) -> None:
    retired(later(lake, days=8))
    assert not folder(lake, cancelled).exists()
    assert (target(lake) / "_delta_log").exists()


def test_looking_removes_nothing(lake: Platform, cancelled: Manifest) -> None:
    before = files(target(lake))
    assert would_go(later(lake, days=8)) == {(cancelled.run_id, R.ABANDONED)}
    assert (files(target(lake)), lake.ledger.retirements(BRONZE)) == (before, ())


def test_it_stays_until_its_days_are_over(lake: Platform, cancelled: Manifest) -> None:
    retired(later(lake, days=6.9))
    assert folder(lake, cancelled).exists()


def test_what_was_replaced_goes_and_what_is_seen_stays(
    lake: Platform, replaced: tuple[Manifest, Manifest]
) -> None:
    first, second = replaced
    before = (rows(lake), files(folder(lake, second)))
    retired(later(lake, days=31))
    assert not folder(lake, first).exists()
    assert (rows(lake), files(folder(lake, second))) == before


def test_what_was_replaced_stays_for_the_rollback_window_where_that_is_longer(
    lake: Platform, replaced: tuple[Manifest, Manifest]
) -> None:
    short = Retention(abandoned_after_days=1, superseded_after_days=1)
    impatient = replace(lake, policy=replace(lake.policy, retention=short))
    assert would_go(later(impatient, days=29)) == set()


def test_what_a_rollback_took_back_goes(
    lake: Platform, replaced: tuple[Manifest, Manifest]
) -> None:
    first, second = replaced
    roll_back(lake, plan_rollback(lake, undo(second)).run_id)
    before = rows(lake)
    retired(later(lake, days=31))
    assert (folder(lake, first).exists(), folder(lake, second).exists()) == (True, False)
    assert rows(lake) == before


def test_what_was_staged_and_equal_to_what_is_seen_goes(lake: Platform, plan: Plan) -> None:
    run_by_hand(lake, plan("first"), meters("a", "b"))
    same = plan("same")
    run_by_hand(lake, same, meters("a", "b"))
    assert would_go(later(lake, days=8)) == {(same.run_id, R.UNPUBLISHED)}


def test_a_dry_run_goes_once_it_was_looked_at_long_enough(lake: Platform, plan: Plan) -> None:
    dry = plan("dry", mode=ExecutionMode.DRY_RUN)
    stage_by_hand(lake, dry, meters("a"))
    retired(later(lake, days=8))
    assert (folder(lake, dry).exists(), state(lake, dry.run_id)) == (False, S.EXPIRED)


def test_leftovers_of_a_compaction_go_and_the_compacted_stays(lake: Platform, plan: Plan) -> None:
    first = plan("first")
    run_by_hand(lake, first, meters("a", "b"))
    write_rows(target(lake), {FIRST_DAY: ["c"]}, run_id="somebody")
    DeltaTable(target(lake)).optimize.compact()
    before = rows(lake)
    assert would_go(later(lake, days=31)) == {(first.run_id, R.SUPERSEDED), (None, R.SUPERSEDED)}
    retired(later(lake, days=31))
    assert rows(lake) == before
    assert [*folder(lake, first).glob(f"day={FIRST_DAY}/*")] == []


# What stays.


def test_a_run_that_may_still_publish_keeps_its_files(lake: Platform, staged: Manifest) -> None:
    before = files(folder(lake, staged))
    retired(later(lake, days=999))
    assert files(folder(lake, staged)) == before


def test_an_ended_run_whose_worker_has_a_lease_keeps_its_files(lake: Platform, plan: Plan) -> None:
    manifest = plan("slow")
    start_run(lake, manifest.run_id)
    lake.ledger.claim_chunk(
        manifest.run_id,
        DAYS,
        worker="w",
        lease_seconds=9 * 24 * 3600,
        max_partitions_at_once=None,
        now=lake.clock(),
    )
    cancel(lake, manifest)
    assert would_go(later(lake, days=8)) == set()
    assert would_go(later(lake, days=10)) == {(manifest.run_id, R.ABANDONED)}


def test_a_planned_rollback_keeps_what_it_returns_to(
    lake: Platform, replaced: tuple[Manifest, Manifest]
) -> None:
    rollback = plan_rollback(later(lake, days=31), undo(replaced[1]))
    retired(later(lake, days=31))
    roll_back(later(lake, days=31), rollback.run_id)
    assert {meter for _, meter in rows(lake)} == {"a", "b"}


def test_a_rollback_that_nobody_carried_out_in_time_keeps_nothing(
    lake: Platform, replaced: tuple[Manifest, Manifest]
) -> None:
    first, second = replaced
    plan_rollback(later(lake, days=31), undo(second))
    retired(later(lake, days=31 + 3 + 1))
    assert not folder(lake, first).exists()


def test_a_run_of_another_table_keeps_the_version_that_it_reads(lake: Platform, plan: Plan) -> None:
    first = plan("first", week())
    run_by_hand(lake, first, meters("a", "b", days=week()))
    reading = plan("reading", DAYS, SILVER)
    start_run(lake, reading.run_id)
    begin_staging(lake, reading)
    run_by_hand(lake, plan("second", week()), meters("c", days=week()))
    before = files(folder(lake, first))
    retired(later(lake, days=999))
    assert files(folder(lake, first)) == before


def test_a_table_that_is_being_published_keeps_everything(
    lake: Platform, cancelled: Manifest, plan: Plan
) -> None:
    manifest = plan("publishing")
    stage_by_hand(lake, manifest, meters("a"))
    move_run(lake, manifest.run_id, S.VALIDATED, S.PUBLISHING, "tests")
    one = retired(later(lake, days=8))
    assert f"{manifest.run_id} is being published" in obstacle(one)
    assert folder(lake, cancelled).exists()


def test_a_table_that_the_policy_keeps_keeps_everything(
    lake: Platform, cancelled: Manifest
) -> None:
    held = replace(
        lake, policy=replace(lake.policy, retention=replace(RETENTION, kept_tables=(BRONZE,)))
    )
    retired(later(held, days=999))
    assert folder(lake, cancelled).exists()


def test_a_log_that_lost_its_end_keeps_everything(
    lake: Platform, replaced: tuple[Manifest, Manifest]
) -> None:
    version = DeltaTable(target(lake)).version()
    (target(lake) / "_delta_log" / f"{version:020d}.json").unlink()
    before = files(target(lake))
    one = retired(later(lake, days=99))
    assert "the log is not whole" in obstacle(one)
    assert files(target(lake)) == before


def test_strange_folders_links_and_other_peoples_files_are_left_alone(
    lake: Platform, cancelled: Manifest, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "deep").mkdir(parents=True)
    (elsewhere / "deep" / "part-0.parquet").write_bytes(b"theirs")
    (target(lake) / "runs" / "bf-20200101-readings-1.0.0-001").symlink_to(elsewhere)
    (folder(lake, cancelled) / "link").symlink_to(elsewhere)
    theirs = target(lake) / "runs" / "notes" / "part-0.parquet"
    theirs.parent.mkdir()
    theirs.write_bytes(b"notes")
    retired(later(lake, days=99))
    assert (elsewhere / "deep" / "part-0.parquet").read_bytes() == b"theirs"
    assert theirs.read_bytes() == b"notes"
    assert [*folder(lake, cancelled).rglob("*.parquet")] == []


# What is recorded.


def test_the_ledger_records_what_went_by_which_policy_and_whose_word(
    lake: Platform, cancelled: Manifest
) -> None:
    went = files(folder(lake, cancelled))
    retired(later(lake, days=8))
    (record,) = lake.ledger.retirements(BRONZE)
    prefix = f"runs/{cancelled.run_id}/"
    assert record.retired == {f"{prefix}{path}" for path in went}
    assert (record.intent.actor, record.intent.retention) == ("ana", RETENTION)
    assert record.intent.policy_digest == lake.policy.digest
    assert (record.finished_at is not None, record.spared) == (True, ())


def test_the_evidence_of_each_run_records_its_files_and_nothing_of_it_goes(
    lake: Platform, replaced: tuple[Manifest, Manifest]
) -> None:
    first, second = replaced
    before = kinds(lake, first)
    went = sum(1 for path in files(folder(lake, first)))
    retired(later(lake, days=31))
    record = bundle(lake, first.run_id).records()[-1]
    assert kinds(lake, first) == [*before, "retirement"]
    assert sum(len(part["files"]) for part in record.body["parts"]) == went
    assert "retirement" not in kinds(lake, second)


def test_a_failed_run_ends_with_its_files_and_is_not_taken_up_again(
    lake: Platform, plan: Plan
) -> None:
    failed = plan("failed")
    stage_by_hand(lake, failed, meters("a"), chunks=(DayRange.of_day(FIRST_DAY),))
    fail_run(lake, failed.run_id, "the second chunk failed")
    retired(later(lake, days=8))
    event = lake.ledger.events(failed.run_id)[-1]
    assert event.to_state is S.EXPIRED
    assert event.details == {"retirement": f"{BRONZE}/retirement-1"}
    with pytest.raises(RunStopped, match="EXPIRED"):
        start_run(lake, failed.run_id)


def test_retiring_twice_equals_once(lake: Platform, cancelled: Manifest) -> None:
    at = later(lake, days=8)
    retired(at)
    after = (files(lake.warehouse.root), lake.ledger.retirements(BRONZE), kinds(lake, cancelled))
    retired(at)
    again = (files(lake.warehouse.root), lake.ledger.retirements(BRONZE), kinds(lake, cancelled))
    assert again == after


def test_two_that_retire_at_once_record_it_once(lake: Platform, cancelled: Manifest) -> None:
    at, together = later(lake, days=8), Barrier(2)

    def one() -> Retired:
        together.wait()
        return retired(at)

    with ThreadPoolExecutor(2) as pool:
        done = [pool.submit(one) for _ in range(2)]
    assert [future.result().problem for future in done] == ["", ""]
    assert len(lake.ledger.retirements(BRONZE)) == 1
    assert kinds(lake, cancelled).count("retirement") == 1


# Rollbacks.


def test_a_rollback_after_it_is_refused_and_names_the_retirement(
    lake: Platform, replaced: tuple[Manifest, Manifest]
) -> None:
    retired(later(lake, days=31))
    with pytest.raises(PlanRefused, match=rf"were retired \({BRONZE}/retirement-1 of .* by ana"):
        plan_rollback(later(lake, days=31), undo(replaced[1]))


class Interrupted:
    """A ledger that lets something happen right after, or right before, one of its calls."""

    def __init__(self, ledger: Any, method: str, happens: Callable[[], None], *, before: bool):
        self._ledger, self._method, self._happens = ledger, method, happens
        self._before = before

    def __getattr__(self, name: str) -> Any:
        wanted = getattr(self._ledger, name)
        if name != self._method:
            return wanted

        def call(*given: Any, **named: Any) -> Any:
            if self._before:
                self._happens()
            result = wanted(*given, **named)
            if not self._before:
                self._happens()
            return result

        return call


def meanwhile(
    platform: Platform, method: str, happens: Callable[[], None], *, before: bool = False
) -> Platform:
    ledger: Any = Interrupted(platform.ledger, method, happens, before=before)
    return replace(platform, ledger=ledger)


@pytest.mark.parametrize(
    ("method", "before"), [("intend_retirement", False), ("nobody_plans", True)]
)
def test_a_rollback_planned_in_between_keeps_its_files(
    lake: Platform, replaced: tuple[Manifest, Manifest], method: str, *, before: bool
) -> None:
    at, planned = later(lake, days=31), []

    def plan_it() -> None:
        if not planned:
            planned.append(plan_rollback(at, undo(replaced[1])).run_id)

    retired(meanwhile(at, method, plan_it, before=before))
    roll_back(at, planned[0])
    assert {meter for _, meter in rows(lake)} == {"a", "b"}


@pytest.mark.parametrize(
    ("method", "before"), [("intend_retirement", False), ("nobody_plans", True)]
)
def test_a_file_that_returned_meanwhile_is_spared(
    lake: Platform, replaced: tuple[Manifest, Manifest], method: str, *, before: bool
) -> None:
    """Somebody who knows nothing of runs restores the table."""
    returned: list[int] = []

    def restore() -> None:
        if not returned:
            DeltaTable(target(lake)).restore(1)
            returned.append(DeltaTable(target(lake)).version())

    one = retired(meanwhile(later(lake, days=31), method, restore, before=before))
    assert {meter for _, meter in rows(lake)} == {"a", "b"}
    assert set(one.done[0].spared) == one.done[0].intent.paths


def die(*_: Any) -> None:
    raise ConnectionError("killed")


def test_a_rollback_waits_while_its_files_may_be_going(
    lake: Platform, replaced: tuple[Manifest, Manifest]
) -> None:
    at = later(lake, days=31)
    with suppress(ConnectionError):
        retired(at, remove=die)
    rollback = plan_rollback(at, undo(replaced[1]))
    before = rows(lake)
    with pytest.raises(LostRace, match="retirement-1 may just be removing files"):
        roll_back(at, rollback.run_id)
    assert rows(lake) == before


def test_it_goes_on_once_the_retirement_has_finished(
    lake: Platform, replaced: tuple[Manifest, Manifest]
) -> None:
    at = later(lake, days=31)
    with suppress(ConnectionError):
        retired(at, remove=die)
    rollback = plan_rollback(at, undo(replaced[1]))
    retired(at)
    roll_back(at, rollback.run_id)
    assert {meter for _, meter in rows(lake)} == {"a", "b"}


# Crashes.


def die_half_way(path: Path, going: Iterable[str]) -> None:
    named = [*going]
    remove_files(path, named[: len(named) // 2])
    die()


def die_at_the_end(path: Path, going: Iterable[str]) -> None:
    remove_files(path, going)
    die()


def losing(method: str, *, before: bool) -> Callable[[Platform], Retired]:
    return lambda platform: retired(meanwhile(platform, method, die, before=before))


CRASHES: dict[str, Callable[[Platform], Retired]] = {
    "before the intention": losing("intend_retirement", before=True),
    "after the intention": losing("intend_retirement", before=False),
    "before the first file": lambda platform: retired(platform, remove=die),
    "half way": lambda platform: retired(platform, remove=die_half_way),
    "after the last file": lambda platform: retired(platform, remove=die_at_the_end),
    "before the fact": losing("finish_retirement", before=True),
    "after the fact": losing("finish_retirement", before=False),
}


@pytest.mark.parametrize("crash", CRASHES.values(), ids=CRASHES.keys())
def test_a_retirement_that_died_anywhere_is_finished_by_the_next(
    lake: Platform,
    replaced: tuple[Manifest, Manifest],
    cancelled: Manifest,
    crash: Callable[[Platform], Retired],
) -> None:
    first, second = replaced
    at, seen, kept = later(lake, days=31), rows(lake), files(folder(lake, second))
    with pytest.raises(ConnectionError):
        crash(at)
    assert rows(lake) == seen
    retired(at)
    assert (rows(lake), files(folder(lake, second))) == (seen, kept)
    assert sorted(one.name for one in (target(lake) / "runs").iterdir()) == [second.run_id]
    (record,) = lake.ledger.retirements(BRONZE)
    assert (record.finished_at is not None, record.spared) == (True, ())
    assert [kinds(lake, run).count("retirement") for run in (first, cancelled)] == [1, 1]


# The policy.


def test_without_a_policy_nothing_is_ever_retired(lake: Platform, cancelled: Manifest) -> None:
    silent = replace(lake, policy=replace(lake.policy, retention=None))
    with pytest.raises(DeclarationInvalid, match="retention: is missing, so nothing is ever"):
        retire(later(silent, days=999), (BRONZE,), actor="ana")
    assert folder(lake, cancelled).exists()


def test_a_mistyped_table_in_the_policy_is_refused(lake: Platform, cancelled: Manifest) -> None:
    kept = replace(RETENTION, kept_tables=("bronze.reading",))
    mistyped = replace(lake, policy=replace(lake.policy, retention=kept))
    with pytest.raises(DeclarationInvalid, match=r"retention.tables.bronze.reading: no such"):
        retire(later(mistyped, days=999), (BRONZE,), actor="ana")
    assert folder(lake, cancelled).exists()


def test_a_table_that_is_not_there_yet_has_nothing_to_retire(lake: Platform) -> None:
    assert find_retirable(lake, (SILVER,)) == (
        Retired(table=SILVER, plan=None, done=(), problem=""),
    )


def test_a_problem_with_one_table_stops_no_other(lake: Platform, cancelled: Manifest) -> None:
    silver = lake.warehouse.table_path(SILVER) / "_delta_log"
    silver.mkdir(parents=True)
    (silver / f"{0:020d}.json").write_text("nonsense\n")
    broken, fine = retire(later(lake, days=8), (SILVER, BRONZE), actor="ana")
    assert (bool(broken.problem), fine.problem) == (True, "")
    assert not folder(lake, cancelled).exists()
