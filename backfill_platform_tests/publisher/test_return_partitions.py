"""What a rollback does to a target, and when it refuses to do anything."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from threading import Thread

import pytest
from deltalake import DeltaTable

from backfill_platform.domain.errors import StagingIncomplete, TargetMoved
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.publications import AlreadyPublished, Publication, Published
from backfill_platform.lakehouse.delta_log import read_statistics
from backfill_platform.lakehouse.former_files import former_files
from backfill_platform.publisher.replace_partitions import publish
from backfill_platform.publisher.return_partitions import return_partitions
from backfill_platform_tests.publisher.tables import (
    FIRST,
    Lake,
    append,
    days,
    read_rows,
    review_return,
    rows_of,
)

SECOND = FIRST + timedelta(days=1)


def published(lake: Lake, number: int, named: PartitionSet) -> None:
    staging = lake.stage(number, rows_of(f"run{number}", named))
    publish(lake.target, staging, lake.review(number, named))


def at(version: int, named: PartitionSet) -> Mapping[date, int]:
    return dict.fromkeys(named, version)


def refusal(lake: Lake, publication: Publication, versions: Mapping[date, int]) -> str:
    """The message of the refusal; the target must not have changed."""
    before = (lake.version(), read_rows(lake.target))
    with pytest.raises(StagingIncomplete) as refused:
        return_partitions(lake.target, publication, versions)
    assert (lake.version(), read_rows(lake.target)) == before
    return str(refused.value)


def files_of(lake: Lake, *, version: int | None = None) -> set[str]:
    return set(DeltaTable(lake.target, version=version).file_uris())


def test_the_same_files_are_there_again_and_none_is_copied(lake: Lake) -> None:
    append(lake.target, rows_of("live", days(0, 3)))
    published(lake, 1, days(0, 3))
    on_disk = {*lake.target.rglob("*.parquet")}
    versions = at(1, days(0, 3))
    outcome = return_partitions(lake.target, review_return(lake, versions), versions)
    assert outcome == Published(version=3, row_count=6, files_added=3, files_removed=3, attempts=1)
    assert files_of(lake) == files_of(lake, version=1)
    assert {*lake.target.rglob("*.parquet")} == on_disk


def test_files_that_an_earlier_run_published_return_as_well(lake: Lake) -> None:
    published(lake, 1, days(0, 2))
    published(lake, 2, days(0, 2))
    versions = at(1, days(0, 2))
    return_partitions(lake.target, review_return(lake, versions), versions)
    assert read_rows(lake.target) == rows_of("run1", days(0, 2))


def test_only_the_named_days_return(lake: Lake) -> None:
    append(lake.target, rows_of("live", days(0, 3)))
    published(lake, 1, days(0, 3))
    versions = at(1, days(1, 1))
    return_partitions(lake.target, review_return(lake, versions), versions)
    assert read_rows(lake.target) == sorted(
        rows_of("live", days(1, 1)) + rows_of("run1", [*days(0, 1), *days(2, 1)])
    )


def test_days_return_to_versions_of_their_own(lake: Lake) -> None:
    published(lake, 1, days(0, 2))
    published(lake, 2, days(0, 1))
    published(lake, 3, days(0, 2))
    versions = {FIRST: 2, SECOND: 1}
    return_partitions(lake.target, review_return(lake, versions), versions)
    assert read_rows(lake.target) == sorted(
        rows_of("run2", days(0, 1)) + rows_of("run1", days(1, 1))
    )


def test_a_day_that_held_nothing_becomes_empty(lake: Lake) -> None:
    append(lake.target, rows_of("live", days(0, 1)))
    published(lake, 1, days(0, 2))
    versions = at(1, days(0, 2))
    return_partitions(lake.target, review_return(lake, versions), versions)
    assert read_rows(lake.target) == rows_of("live", days(0, 1))


def test_a_rollback_is_rolled_back_the_same_way(lake: Lake) -> None:
    published(lake, 1, days(0, 2))
    published(lake, 2, days(0, 2))
    versions = at(1, days(0, 2))
    return_partitions(lake.target, review_return(lake, versions), versions)
    versions = at(2, days(0, 2))
    return_partitions(lake.target, review_return(lake, versions, "forth"), versions)
    assert read_rows(lake.target) == rows_of("run2", days(0, 2))


def test_returning_twice_changes_nothing_more(lake: Lake) -> None:
    published(lake, 1, days(0, 2))
    published(lake, 2, days(0, 2))
    versions = at(1, days(0, 2))
    publication = review_return(lake, versions)
    return_partitions(lake.target, publication, versions)
    again = return_partitions(lake.target, publication, versions)
    assert (again, lake.version()) == (AlreadyPublished(version=3), 3)


def test_the_return_keeps_the_statistics_word_for_word(lake: Lake) -> None:
    append(lake.target, rows_of("live", days(0, 2)))
    expected = read_statistics(lake.target)
    published(lake, 1, days(0, 2))
    files = former_files(lake.target, at(1, days(0, 2)))
    assert files is not None
    assert {file.path: file.statistics for file in files} == expected


def test_statistics_come_from_the_checkpoint_where_older_entries_are_gone(lake: Lake) -> None:
    append(lake.target, rows_of("live", days(0, 2)))
    expected = {
        path: stats.replace(" ", "") for path, stats in read_statistics(lake.target).items()
    }
    DeltaTable(lake.target).create_checkpoint()
    published(lake, 1, days(0, 2))
    for version in (0, 1):
        (lake.target / "_delta_log" / f"{version:020d}.json").unlink()
    files = former_files(lake.target, at(1, days(0, 2)))
    assert files is not None
    assert {file.path: (file.statistics or "").replace(" ", "") for file in files} == expected


def test_an_append_after_the_review_refuses_the_return(lake: Lake) -> None:
    published(lake, 1, days(0, 2))
    published(lake, 2, days(0, 2))
    versions = at(1, days(0, 2))
    publication = review_return(lake, versions)
    append(lake.target, rows_of("late", days(1, 1)))
    before = read_rows(lake.target)
    with pytest.raises(TargetMoved) as refused:
        return_partitions(lake.target, publication, versions)
    assert refused.value.days == (SECOND,)
    assert read_rows(lake.target) == before


def test_a_commit_on_another_day_does_not_refuse_the_return(lake: Lake) -> None:
    published(lake, 1, days(0, 2))
    published(lake, 2, days(0, 2))
    versions = at(1, days(0, 2))
    publication = review_return(lake, versions)
    append(lake.target, rows_of("live", days(5, 1)))
    return_partitions(lake.target, publication, versions)
    assert read_rows(lake.target) == sorted(
        rows_of("run1", days(0, 2)) + rows_of("live", days(5, 1))
    )


def test_a_file_that_was_vacuumed_refuses_the_whole_return(lake: Lake) -> None:
    published(lake, 1, days(0, 2))
    published(lake, 2, days(0, 2))
    versions = at(1, days(0, 2))
    publication = review_return(lake, versions)
    (lake.target / publication.files[1].path).unlink()
    said = refusal(lake, publication, versions)
    assert f"{publication.files[1].path}: is missing" in said
    assert "Restore the files from a copy" in said


def test_a_file_of_another_size_refuses_the_return(lake: Lake) -> None:
    published(lake, 1, days(0, 1))
    published(lake, 2, days(0, 1))
    versions = at(1, days(0, 1))
    publication = review_return(lake, versions)
    file = lake.target / publication.files[0].path
    file.write_bytes(file.read_bytes()[:-1])
    assert "bytes and was measured with" in refusal(lake, publication, versions)


def test_files_that_the_target_never_held_are_not_returned(lake: Lake) -> None:
    published(lake, 1, days(0, 1))
    lake.stage(2, rows_of("unjudged", days(0, 1)))
    versions = at(0, days(0, 1))
    staged = lake.review(2, days(0, 1)).files[0]
    below_target = replace(staged, path=f"{lake.staging(2).relative_to(lake.target)}/{staged.path}")
    publication = replace(review_return(lake, versions), files=(below_target,))
    assert "does not name exactly what was held before: 1 files differ" in refusal(
        lake, publication, versions
    )


def test_a_version_that_is_gone_refuses_the_return(lake: Lake) -> None:
    published(lake, 1, days(0, 1))
    published(lake, 2, days(0, 1))
    versions = at(1, days(0, 1))
    publication = review_return(lake, versions)
    DeltaTable(lake.target).create_checkpoint()
    for version in (0, 1):
        (lake.target / "_delta_log" / f"{version:020d}.json").unlink()
    assert "can no longer be read" in refusal(lake, publication, versions)


def test_a_day_without_a_version_is_refused(lake: Lake) -> None:
    published(lake, 1, days(0, 2))
    publication = review_return(lake, at(0, days(0, 2)))
    with pytest.raises(ValueError, match="a version for exactly its days"):
        return_partitions(lake.target, publication, at(0, days(0, 1)))


def test_vacuum_keeps_what_was_returned(lake: Lake) -> None:
    published(lake, 1, days(0, 2))
    published(lake, 2, days(0, 2))
    versions = at(1, days(0, 2))
    return_partitions(lake.target, review_return(lake, versions), versions)
    DeltaTable(lake.target).vacuum(
        retention_hours=0, enforce_retention_duration=False, dry_run=False, full=True
    )
    assert read_rows(lake.target) == rows_of("run1", days(0, 2))


def back_and_forth(lake: Lake) -> None:
    for turn in range(6):
        versions = at(1 + turn % 2, days(0, 10))
        return_partitions(lake.target, review_return(lake, versions, f"turn {turn}"), versions)


def test_readers_of_a_rollback_see_before_or_after(lake: Lake) -> None:
    published(lake, 1, days(0, 10))
    published(lake, 2, days(0, 10))
    returning = Thread(target=back_and_forth, args=(lake,))
    returning.start()
    seen: list[int] = []
    while returning.is_alive():
        table = DeltaTable(lake.target).to_pyarrow_table(columns=["produced_by_run_id"])
        seen.append(len(set(table.column(0).to_pylist())))
    returning.join()
    assert len(seen) > 2
    assert set(seen) == {1}
