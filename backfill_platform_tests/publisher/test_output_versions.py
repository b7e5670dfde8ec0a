"""Versions of the output lie side by side, and the latest of each day is what is seen."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from deltalake import DeltaTable

from backfill_platform.domain.errors import StagingIncomplete, TargetMoved, UnsupportedTable
from backfill_platform.domain.modes import VersionColumn
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.publications import AlreadyPublished
from backfill_platform.lakehouse.delta_tables import delta_schema, read_table_state
from backfill_platform.publisher.replace_partitions import publish
from backfill_platform.publisher.return_partitions import return_partitions
from backfill_platform_tests.publisher.tables import CONTRACT, FIRST, days, rows_of
from backfill_platform_tests.publisher.versioned import VersionedLake, make_versioned_lake

VERSIONS = {
    # As texts, both would be in the wrong order.
    VersionColumn.OUTPUT_VERSION: ("9", "10", "11"),
    VersionColumn.AS_OF_DATE: ("2026-06-30", "2026-07-04", "2026-10-01"),
}
ORIGINAL, REPROCESSED = rows_of("run1", days(0, 3)), rows_of("run2", days(1, 1))
LATEST = sorted([*rows_of("run1", [*days(0, 1), *days(2, 1)]), *REPROCESSED])


@pytest.fixture(params=tuple(VersionColumn))
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> VersionedLake:
    return make_versioned_lake(tmp_path, request.param)


@pytest.fixture
def reprocessed(lake: VersionedLake) -> VersionedLake:
    """Three days have been published, and then the second of them once more."""
    one, two, _ = VERSIONS[lake.column]
    lake.publish(1, days(0, 3), one)
    lake.publish(2, days(1, 1), two)
    return lake


def back_to(version: int, named: PartitionSet | None = None) -> Mapping[date, int]:
    return dict.fromkeys(named or days(1, 1), version)


def refuse(lake: VersionedLake, number: int, named: PartitionSet, version: str) -> str:
    before = lake.version()
    with pytest.raises((TargetMoved, StagingIncomplete)) as refused:
        publish(lake.target, lake.staging(number), lake.review(number, named, version))
    assert lake.version() == before
    return str(refused.value)


def test_original_and_reprocessed_lie_side_by_side(reprocessed: VersionedLake) -> None:
    one, two, _ = VERSIONS[reprocessed.column]
    expected = [(one, row) for row in ORIGINAL] + [(two, row) for row in REPROCESSED]
    assert reprocessed.every() == sorted(expected)


def test_the_latest_version_of_each_day_is_seen(reprocessed: VersionedLake) -> None:
    assert reprocessed.seen() == LATEST
    assert reprocessed.seen(version=1) == ORIGINAL


def test_every_file_lies_below_its_day_and_its_version(reprocessed: VersionedLake) -> None:
    _, two, _ = VERSIONS[reprocessed.column]
    folders = {Path(path).parent.name for path in DeltaTable(reprocessed.target).file_uris()}
    assert f"{reprocessed.column}={two}" in folders
    parents = {Path(path).parent.parent.name for path in DeltaTable(reprocessed.target).file_uris()}
    assert parents == {f"business_date={day}" for day in days(0, 3)}


def test_the_state_of_a_day_is_what_is_seen_of_it(reprocessed: VersionedLake) -> None:
    one, two, _ = VERSIONS[reprocessed.column]
    state = read_table_state(reprocessed.target, days(0, 4))
    assert state is not None
    assert state.output_versions == dict(zip(days(0, 3), (one, two, one), strict=True))
    assert list(state.row_counts.values()) == [2, 2, 2, 0]
    assert [file.output_version for file in state.others[days(1, 1).span.start]] == [one]


def test_nothing_of_other_versions_is_removed(lake: VersionedLake) -> None:
    one, two, _ = VERSIONS[lake.column]
    lake.publish(1, days(0, 3), one)
    outcome = lake.publish(2, days(1, 1), two)
    assert (getattr(outcome, "files_removed", None), getattr(outcome, "files_added", None)) == (
        0,
        1,
    )


def test_publishing_a_version_twice_equals_once(reprocessed: VersionedLake) -> None:
    _, two, _ = VERSIONS[reprocessed.column]
    again = reprocessed.review(2, days(1, 1), two)
    outcome = publish(reprocessed.target, reprocessed.staging(2), again)
    assert outcome == AlreadyPublished(version=2)


def test_a_version_that_would_not_be_seen_is_refused(reprocessed: VersionedLake) -> None:
    one, two, _ = VERSIONS[reprocessed.column]
    reprocessed.stage(3, rows_of("run3", days(1, 1)), one)
    said = refuse(reprocessed, 3, days(1, 1), one)
    assert f"version {one} of 2025-01-02 would not be seen" in said
    assert f"these days show version {two}" in said
    assert reprocessed.seen() == LATEST


def test_a_day_without_rows_over_one_that_has_some_is_refused(reprocessed: VersionedLake) -> None:
    *_, three = VERSIONS[reprocessed.column]
    reprocessed.stage(3, rows_of("run3", days(0, 1)), three)
    said = refuse(reprocessed, 3, days(0, 2), three)
    assert "of 2025-01-02 would not be seen" in said
    assert "a version without rows leaves no trace" in said
    assert reprocessed.seen() == LATEST


def test_a_version_that_came_in_between_is_a_target_that_moved(lake: VersionedLake) -> None:
    one, two, three = VERSIONS[lake.column]
    lake.publish(1, days(0, 3), one)
    lake.stage(2, rows_of("run2", days(1, 1)), three)
    publication = lake.review(2, days(1, 1), three)
    lake.append(rows_of("live", days(1, 1)), two)
    with pytest.raises(TargetMoved, match="version 2 moved them: WRITE"):
        publish(lake.target, lake.staging(2), publication)
    assert lake.seen() == sorted(
        [*rows_of("run1", [*days(0, 1), *days(2, 1)]), *rows_of("live", days(1, 1))]
    )


def test_whoever_writes_behind_what_is_seen_is_no_conflict(reprocessed: VersionedLake) -> None:
    one, _, three = VERSIONS[reprocessed.column]
    reprocessed.stage(3, rows_of("run3", days(1, 1)), three)
    publication = reprocessed.review(3, days(1, 1), three)
    reprocessed.append(rows_of("live", days(1, 1)), one)
    publish(reprocessed.target, reprocessed.staging(3), publication)
    assert [row for row in reprocessed.seen() if row[0] in days(1, 1)] == rows_of(
        "run3", days(1, 1)
    )


def test_a_compaction_of_what_is_seen_is_seen_through(reprocessed: VersionedLake) -> None:
    _, two, three = VERSIONS[reprocessed.column]
    reprocessed.append(rows_of("more", days(1, 1)), two)
    reprocessed.stage(3, rows_of("run3", days(1, 1)), three)
    publication = reprocessed.review(3, days(1, 1), three)
    DeltaTable(reprocessed.target).optimize.compact()
    outcome = publish(reprocessed.target, reprocessed.staging(3), publication)
    assert getattr(outcome, "compaction", None) is not None
    assert [row for row in reprocessed.seen() if row[0] in days(1, 1)] == rows_of(
        "run3", days(1, 1)
    )


def test_a_rollback_takes_only_its_own_version_away(reprocessed: VersionedLake) -> None:
    one, two, _ = VERSIONS[reprocessed.column]
    outcome = reprocessed.take_back(back_to(1), two)
    assert (getattr(outcome, "files_added", None), getattr(outcome, "files_removed", None)) == (
        0,
        1,
    )
    assert reprocessed.every() == sorted((one, row) for row in ORIGINAL)
    assert reprocessed.seen() == ORIGINAL
    assert reprocessed.seen(version=2) == LATEST


def test_rolling_back_twice_equals_once(reprocessed: VersionedLake) -> None:
    _, two, _ = VERSIONS[reprocessed.column]
    publication = reprocessed.review_return(back_to(1), two)
    return_partitions(reprocessed.target, publication, back_to(1))
    again = return_partitions(reprocessed.target, publication, back_to(1))
    assert (again, reprocessed.version()) == (AlreadyPublished(version=3), 3)


def test_the_rollback_of_a_first_version_leaves_the_day_empty(lake: VersionedLake) -> None:
    one, *_ = VERSIONS[lake.column]
    lake.publish(1, days(0, 3), one)
    lake.take_back(back_to(0), one)
    assert lake.seen() == rows_of("run1", [*days(0, 1), *days(2, 1)])


def test_the_rollback_of_a_rollback_brings_the_version_back(reprocessed: VersionedLake) -> None:
    _, two, _ = VERSIONS[reprocessed.column]
    before = reprocessed.every()
    reprocessed.take_back(back_to(1), two)
    reprocessed.take_back(back_to(2), two, "forth")
    assert (reprocessed.seen(), reprocessed.every()) == (LATEST, before)


def test_a_rollback_is_refused_when_a_later_version_is_seen(reprocessed: VersionedLake) -> None:
    _, two, three = VERSIONS[reprocessed.column]
    publication = reprocessed.review_return(back_to(1), two)
    reprocessed.append(rows_of("live", days(1, 1)), three)
    with pytest.raises(TargetMoved, match="version 3 moved them"):
        return_partitions(reprocessed.target, publication, back_to(1))
    assert reprocessed.version() == 3


def test_a_rollback_brings_nothing_to_light_that_nobody_saw_before(
    reprocessed: VersionedLake,
) -> None:
    one, two, _ = VERSIONS[reprocessed.column]
    reprocessed.append(rows_of("behind", days(1, 1)), one)
    publication = reprocessed.review_return(back_to(1), two)
    with pytest.raises(TargetMoved, match="version 3 moved them"):
        return_partitions(reprocessed.target, publication, back_to(1))
    assert reprocessed.seen() == LATEST


def test_a_rollback_sees_through_a_compaction_of_the_former_version(lake: VersionedLake) -> None:
    one, two, _ = VERSIONS[lake.column]
    lake.publish(1, days(0, 3), one)
    lake.append(rows_of("more", days(1, 1)), one)
    expected = lake.seen()
    lake.publish(2, days(1, 1), two)
    DeltaTable(lake.target).optimize.compact()
    lake.take_back(back_to(2), two)
    assert lake.seen() == expected


def test_vacuum_loses_no_version(reprocessed: VersionedLake) -> None:
    expected = reprocessed.every()
    reprocessed.append(rows_of("more", days(2, 1)), VERSIONS[reprocessed.column][0])
    table = DeltaTable(reprocessed.target)
    table.optimize.compact()
    table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False, full=True)
    assert [row for row in reprocessed.every() if row[1][0] != days(2, 1).span.start] == [
        row for row in expected if row[1][0] != days(2, 1).span.start
    ]
    assert reprocessed.seen() == sorted([*LATEST, *rows_of("more", days(2, 1))])


def test_a_file_of_another_version_refuses(lake: VersionedLake) -> None:
    one, two, _ = VERSIONS[lake.column]
    lake.stage(1, rows_of("run1", days(0, 1)), one)
    publication = lake.review(1, days(0, 1), two)
    with pytest.raises(StagingIncomplete, match=f"holds version {one} and not {two}"):
        publish(lake.target, lake.staging(1), publication)


def test_a_file_outside_the_folder_of_its_version_refuses(lake: VersionedLake) -> None:
    one, two, _ = VERSIONS[lake.column]
    lake.stage(1, rows_of("run1", days(0, 1)), one)
    publication = lake.review(1, days(0, 1), two)
    moved = tuple(replace(file, output_version=two) for file in publication.files)
    with pytest.raises(StagingIncomplete, match=f"business_date={FIRST}/{lake.column}={two}"):
        publish(lake.target, lake.staging(1), replace(publication, files=moved))


def test_a_publication_that_knows_no_versions_is_refused(reprocessed: VersionedLake) -> None:
    publication = replace(
        reprocessed.review(2, days(1, 1), VERSIONS[reprocessed.column][1]),
        publication_id="another",
        files=(),
        version_column=None,
        output_version=None,
    )
    with pytest.raises(TargetMoved, match="it is partitioned by"):
        publish(reprocessed.target, reprocessed.staging(2), publication)
    assert reprocessed.seen() == LATEST


def test_a_second_partition_column_of_another_name_is_refused(tmp_path: Path) -> None:
    schema = delta_schema(tmp_path, CONTRACT.columns)
    DeltaTable.create(tmp_path, schema, partition_by=["business_date", "id"])
    with pytest.raises(UnsupportedTable, match="partitioned by a date column"):
        read_table_state(tmp_path, None)
