"""What a publication does to a target, and when it refuses to do anything."""

import multiprocessing
import os
import signal
from dataclasses import replace
from datetime import timedelta
from threading import Thread

import pytest
from deltalake import DeltaTable

from backfill_platform.domain.errors import LostRace, TargetMoved
from backfill_platform.domain.publications import AlreadyPublished, Publication, Published
from backfill_platform.lakehouse.delta_log import read_commit
from backfill_platform.lakehouse.delta_tables import open_table, published_version
from backfill_platform.publisher.commit import commit_replacement
from backfill_platform.publisher.replace_partitions import publish
from backfill_platform.publisher.staged_files import check_staged_files
from backfill_platform_tests.publisher.tables import (
    COLUMNS,
    FIRST,
    RUN,
    Lake,
    append,
    days,
    read_rows,
    rows_of,
)


def stage_and_publish(lake: Lake, number: int, first: int, count: int) -> Publication:
    named = days(first, count)
    staging = lake.stage(number, rows_of(f"run{number}", named))
    publication = lake.review(number, named)
    publish(lake.target, staging, publication)
    return publication


def test_exactly_the_named_partitions_are_replaced(lake: Lake) -> None:
    append(lake.target, rows_of("live", days(0, 5)))
    staging = lake.stage(1, rows_of("run1", days(1, 3), per_day=3))
    outcome = publish(lake.target, staging, lake.review(1, days(1, 3)))
    assert read_rows(lake.target) == sorted(
        rows_of("live", [*days(0, 1), *days(4, 1)]) + rows_of("run1", days(1, 3), per_day=3)
    )
    assert outcome == Published(version=2, row_count=9, files_added=3, files_removed=3, attempts=1)


def test_no_file_is_copied(lake: Lake) -> None:
    stage_and_publish(lake, 1, 0, 3)
    paths = [uri.partition("totals_daily/")[2] for uri in DeltaTable(lake.target).file_uris()]
    assert sorted({path.split("/")[1] for path in paths}) == [RUN.format(1)]
    assert sorted(path.name for path in lake.target.iterdir()) == ["_delta_log", "runs"]


def test_a_day_without_staged_rows_becomes_empty(lake: Lake) -> None:
    append(lake.target, rows_of("live", days(0, 3)))
    staging = lake.stage(1, rows_of("run1", days(0, 1)))
    publish(lake.target, staging, lake.review(1, days(0, 2)))
    assert read_rows(lake.target) == sorted(
        rows_of("run1", days(0, 1)) + rows_of("live", days(2, 1))
    )


def test_a_publication_without_any_row_only_removes(lake: Lake) -> None:
    append(lake.target, rows_of("live", days(0, 2)))
    staging = lake.stage(1, [])
    publish(lake.target, staging, lake.review(1, days(1, 1)))
    assert read_rows(lake.target) == rows_of("live", days(0, 1))


def test_a_publication_without_days_is_refused_before_it_could_blank_the_table(lake: Lake) -> None:
    append(lake.target, rows_of("live", days(0, 2)))
    staging = lake.stage(1, [])
    publication = replace(lake.review(1, days(0, 1)), days=(), base={})
    with pytest.raises(ValueError, match="names no day"):
        publish(lake.target, staging, publication)
    assert read_rows(lake.target) == rows_of("live", days(0, 2))


def test_a_day_whose_base_nobody_reviewed_is_refused(lake: Lake) -> None:
    staging = lake.stage(1, rows_of("run1", days(0, 2)))
    publication = lake.review(1, days(0, 2))
    with pytest.raises(ValueError, match="base of exactly its days"):
        publish(lake.target, staging, replace(publication, base={}))


def test_the_second_publication_changes_nothing(lake: Lake) -> None:
    publication = stage_and_publish(lake, 1, 0, 3)
    before = read_rows(lake.target)
    outcome = publish(lake.target, lake.staging(1), publication)
    assert outcome == AlreadyPublished(version=1)
    assert (lake.version(), read_rows(lake.target)) == (1, before)


def test_a_publication_under_another_id_knows_its_own_files(lake: Lake) -> None:
    publication = stage_and_publish(lake, 1, 0, 3)
    append(lake.target, rows_of("live", days(8, 1)))
    renamed = replace(lake.review(1, days(0, 3)), publication_id="another", files=publication.files)
    outcome = publish(lake.target, lake.staging(1), renamed)
    assert outcome == AlreadyPublished(version=1)
    assert lake.version() == 2


def test_files_that_are_partly_published_are_refused(lake: Lake) -> None:
    staging = lake.stage(1, rows_of("run1", days(0, 3)))
    publish(lake.target, staging, lake.review(1, days(0, 1)))
    whole = replace(lake.review(1, days(0, 3)), publication_id="whole")
    with pytest.raises(TargetMoved, match="1 of 3 staged files are already published"):
        publish(lake.target, staging, whole)


def test_the_log_says_in_which_version_a_publication_landed(lake: Lake) -> None:
    append(lake.target, rows_of("live", days(6, 1)))
    publication = stage_and_publish(lake, 1, 0, 2)
    append(lake.target, rows_of("live", days(7, 1)))
    assert published_version(lake.target, publication.publication_id) == 2
    assert published_version(lake.target, "never") is None


def test_the_commit_names_its_run(lake: Lake) -> None:
    stage_and_publish(lake, 1, 0, 1)
    commit = read_commit(lake.target, 1)
    assert commit is not None
    assert commit.author == f"run {RUN.format(1)}"
    assert commit.user_metadata == (
        f'{{"manifest_digest":"{"d" * 64}",'
        f'"publication_id":"{RUN.format(1)}/all","run_id":"{RUN.format(1)}"}}'
    )


def test_an_append_after_the_review_is_refused_and_not_merged(lake: Lake) -> None:
    append(lake.target, rows_of("live", days(0, 3)))
    staging = lake.stage(1, rows_of("run1", days(0, 3)))
    publication = lake.review(1, days(0, 3))
    append(lake.target, rows_of("late", days(1, 1)))
    with pytest.raises(TargetMoved) as refused:
        publish(lake.target, staging, publication)
    assert refused.value.days == (FIRST + timedelta(days=1),)
    assert refused.value.versions == (2,)
    assert read_rows(lake.target) == sorted(
        rows_of("live", days(0, 3)) + rows_of("late", days(1, 1))
    )


def test_a_refusal_says_what_moved_and_which_run_moved_it(lake: Lake) -> None:
    staging = lake.stage(1, rows_of("run1", days(0, 2)))
    publication = lake.review(1, days(0, 2))
    stage_and_publish(lake, 2, 1, 1)
    with pytest.raises(TargetMoved) as refused:
        publish(lake.target, staging, publication)
    said = str(refused.value)
    assert "1 of 2 partitions (2025-01-02) no longer hold" in said
    assert "2025-01-02: expected an empty partition, found files" in said
    assert f"version 1 moved them: WRITE by run {RUN.format(2)}" in said
    assert (
        f'`backfill plan silver.totals_daily --days "2025-01-01..2025-01-02" --replaces '
        f"{RUN.format(1)}`" in said
    )


def test_a_mover_that_the_log_forgot_is_admitted(lake: Lake) -> None:
    staging = lake.stage(1, rows_of("run1", days(0, 1)))
    publication = lake.review(1, days(0, 1))
    append(lake.target, rows_of("late", days(0, 1)))
    DeltaTable(lake.target).create_checkpoint()
    for entry in (lake.target / "_delta_log").glob("*.json"):
        entry.unlink()
    with pytest.raises(TargetMoved, match="no longer in the log"):
        publish(lake.target, staging, publication)


def test_a_commit_on_another_partition_does_not_refuse(lake: Lake) -> None:
    staging = lake.stage(1, rows_of("run1", days(0, 3)))
    publication = lake.review(1, days(0, 3))
    append(lake.target, rows_of("live", days(9, 1)))
    publish(lake.target, staging, publication)
    assert read_rows(lake.target) == sorted(
        rows_of("run1", days(0, 3)) + rows_of("live", days(9, 1))
    )


def test_a_commit_after_the_look_at_the_base_loses_instead_of_merging(lake: Lake) -> None:
    staging = lake.stage(1, rows_of("run1", days(0, 1)))
    publication = lake.review(1, days(0, 1))
    adds = check_staged_files(lake.target, staging, publication, columns=COLUMNS)
    looked_at = open_table(lake.target)
    assert looked_at is not None
    append(lake.target, rows_of("late", days(0, 1)))
    with pytest.raises(LostRace):
        commit_replacement(looked_at, lake.target, publication, adds)
    assert read_rows(lake.target) == rows_of("late", days(0, 1))


def test_a_missing_target_is_refused(lake: Lake) -> None:
    staging = lake.stage(1, rows_of("run1", days(0, 1)))
    publication = lake.review(1, days(0, 1))
    for entry in (lake.target / "_delta_log").iterdir():
        entry.unlink()
    with pytest.raises(TargetMoved, match="there is no Delta table"):
        publish(lake.target, staging, publication)


def publish_and_die(lake: Lake, publication: Publication) -> None:
    publish(lake.target, lake.staging(1), publication)
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_crash_after_the_commit_is_found_in_the_log(lake: Lake) -> None:
    lake.stage(1, rows_of("run1", days(0, 3)))
    publication = lake.review(1, days(0, 3))
    process = multiprocessing.get_context("spawn").Process(
        target=publish_and_die, args=(lake, publication)
    )
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert publish(lake.target, lake.staging(1), publication) == AlreadyPublished(version=1)
    assert read_rows(lake.target) == rows_of("run1", days(0, 3))


def runs_seen_while(lake: Lake, publishing: Thread) -> list[set[str]]:
    seen: list[set[str]] = []
    publishing.start()
    while publishing.is_alive():
        table = DeltaTable(lake.target).to_pyarrow_table(columns=["produced_by_run_id"])
        seen.append(set(table.column(0).to_pylist()))
    publishing.join()
    return seen


def test_readers_see_before_or_after_and_nothing_else(lake: Lake) -> None:
    def publish_one_after_another() -> None:
        for number in range(1, 9):
            stage_and_publish(lake, number, 0, 10)

    seen = runs_seen_while(lake, Thread(target=publish_one_after_another))
    assert len(seen) > 2
    assert max(len(runs) for runs in seen) == 1


def test_vacuum_loses_no_published_row(lake: Lake) -> None:
    append(lake.target, rows_of("live", days(0, 4)))
    stage_and_publish(lake, 1, 0, 3)
    stage_and_publish(lake, 2, 0, 2)
    lake.stage(3, rows_of("abandoned", days(0, 4)))
    expected = read_rows(lake.target)
    removed = DeltaTable(lake.target).vacuum(
        retention_hours=0, enforce_retention_duration=False, dry_run=False, full=True
    )
    assert any(RUN.format(3) in path for path in removed)
    assert read_rows(lake.target) == expected


def test_a_failure_after_the_commit_counts_as_published(lake: Lake) -> None:
    # A checkpoint is due right after this commit and cannot be written.
    DeltaTable(lake.target).alter.set_table_properties({"delta.checkpointInterval": "1"})
    in_the_way = lake.target / "_delta_log" / f"{2:020d}.checkpoint.parquet"
    (in_the_way / "folder").mkdir(parents=True)
    staging = lake.stage(1, rows_of("run1", days(0, 2)))
    outcome = publish(lake.target, staging, lake.review(1, days(0, 2)))
    assert outcome == Published(version=2, row_count=4, files_added=2, files_removed=0, attempts=1)
    assert read_rows(lake.target) == rows_of("run1", days(0, 2))
