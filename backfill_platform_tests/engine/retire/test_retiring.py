"""Which files go from a real lake, which stay, and what is recorded of it. No JVM."""

from dataclasses import replace
from pathlib import Path

import pytest
from deltalake import DeltaTable

from backfill_platform.domain.errors import (
    DeclarationInvalid,
    RunStopped,
)
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.manifests import Manifest
from backfill_platform.domain.modes import ExecutionMode
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.retirements import Retention, RetirementReason
from backfill_platform.engine.carry_out.progress import begin_staging, fail_run, move_run
from backfill_platform.engine.carry_out.starting import start_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.records import bundle
from backfill_platform.engine.retire.retiring import Retired, find_retirable, retire
from backfill_platform.engine.rollback.planning import plan_rollback
from backfill_platform.engine.rollback.rolling_back import roll_back
from backfill_platform_tests.engine.by_hand import run_by_hand, stage_by_hand, write_rows
from backfill_platform_tests.engine.retire.conftest import Plan
from backfill_platform_tests.engine.retire.lake import (
    DAYS,
    FIRST_DAY,
    RETENTION,
    cancel,
    files,
    folder,
    keep_beside,
    kinds,
    later,
    meters,
    obstacle,
    retired,
    rows,
    state,
    target,
    undo,
    would_go,
)
from backfill_platform_tests.readings import BRONZE, SILVER, week

R, S = RetirementReason, RunState


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


def test_what_is_kept_beside_a_run_goes_with_its_files_and_is_recorded(
    lake: Platform, cancelled: Manifest
) -> None:
    rejects = lake.warehouse.rejects_path(BRONZE, cancelled.run_id)
    keep_beside(rejects)
    kept = {f"_beside/{cancelled.run_id}/rejects/{path}" for path in files(rejects)}
    (record,) = retired(later(lake, days=8)).done
    assert kept <= record.intent.paths
    assert not rejects.parent.exists()


def test_what_is_kept_beside_a_run_stays_while_readers_see_rows_of_it(
    lake: Platform, replaced: tuple[Manifest, Manifest]
) -> None:
    first, second = (lake.warehouse.failing_path(BRONZE, run.run_id) for run in replaced)
    keep_beside(first)
    keep_beside(second)
    retired(later(lake, days=31))
    assert (first.exists(), second.exists()) == (False, True)


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
    assert not folder(lake, failed).exists()
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
