"""The same rows in other files are what was reviewed; anything else is not, whatever it says."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from deltalake import DeltaTable, write_deltalake

from backfill_platform.domain.errors import LostRace, TargetMoved
from backfill_platform.domain.publications import Compaction, Publication, Published
from backfill_platform.lakehouse.delta_log import read_commit
from backfill_platform.lakehouse.delta_tables import open_table
from backfill_platform.publisher.commit import commit_replacement
from backfill_platform.publisher.replace_partitions import publish
from backfill_platform.publisher.return_partitions import return_partitions
from backfill_platform.publisher.staged_files import check_staged_files
from backfill_platform_tests.publisher.tables import (
    COLUMNS,
    FIRST,
    Lake,
    Row,
    append,
    days,
    frame,
    read_rows,
    review_return,
    rows_of,
)


def filled_twice(lake: Lake, count: int = 1) -> Publication:
    """Each day holds two files; a run is staged and reviewed against them."""
    append(lake.target, rows_of("live", days(0, count)))
    append(lake.target, rows_of("more", days(0, count)))
    lake.stage(1, rows_of("run1", days(0, count)))
    return lake.review(1, days(0, count))


def compact(lake: Lake) -> None:
    DeltaTable(lake.target).optimize.compact()


def refused(lake: Lake, publication: Publication) -> TargetMoved:
    """The target must not have changed."""
    before = (lake.version(), read_rows(lake.target))
    with pytest.raises(TargetMoved) as raised:
        publish(lake.target, lake.staging(1), publication)
    assert (lake.version(), read_rows(lake.target)) == before
    return raised.value


def replace_and_promise(lake: Lake, rows: Iterable[Row]) -> None:
    """Somebody replaces all rows by others, and says that nothing was changed."""
    write_deltalake(lake.target, frame(rows), mode="overwrite")
    entry = lake.target / "_delta_log" / f"{lake.version():020d}.json"
    actions = [json.loads(line) for line in entry.read_text().splitlines()]
    entry.write_text("\n".join(json.dumps(_promising(action)) for action in actions))


def _promising(action: dict[str, Any]) -> dict[str, Any]:
    ((kind, said),) = action.items()
    return {kind: {**said, "dataChange": False} if kind in ("add", "remove") else said}


def test_a_compaction_after_the_review_is_the_same_content(lake: Lake) -> None:
    publication = filled_twice(lake)
    compact(lake)
    outcome = publish(lake.target, lake.staging(1), publication)
    assert outcome == Published(
        version=4,
        row_count=2,
        files_added=1,
        files_removed=1,
        attempts=1,
        compaction=Compaction(days=(FIRST,), versions=(3,)),
    )
    assert read_rows(lake.target) == rows_of("run1", days(0, 1))


def test_the_commit_says_that_it_replaced_compacted_files(lake: Lake) -> None:
    publication = filled_twice(lake)
    compact(lake)
    publish(lake.target, lake.staging(1), publication)
    commit = read_commit(lake.target, 4)
    assert commit is not None
    assert json.loads(commit.user_metadata or "")["base_compacted_in"] == [3]


def test_only_the_compacted_days_are_named(lake: Lake) -> None:
    publication = filled_twice(lake, 3)
    DeltaTable(lake.target).optimize.compact(partition_filters=[("business_date", "=", str(FIRST))])
    outcome = publish(lake.target, lake.staging(1), publication)
    assert isinstance(outcome, Published)
    assert outcome.compaction == Compaction(days=(FIRST,), versions=(3,))


def test_a_second_compaction_of_the_first_is_the_same_content_too(lake: Lake) -> None:
    publication = filled_twice(lake)
    compact(lake)
    DeltaTable(lake.target).optimize.z_order(["id"])
    outcome = publish(lake.target, lake.staging(1), publication)
    assert isinstance(outcome, Published)
    assert outcome.compaction == Compaction(days=(FIRST,), versions=(4, 3))


def test_an_append_before_the_compaction_is_refused_and_both_are_named(lake: Lake) -> None:
    publication = filled_twice(lake)
    append(lake.target, rows_of("late", days(0, 1)))
    compact(lake)
    assert refused(lake, publication).versions == (4, 3)


def test_an_append_after_the_compaction_is_refused(lake: Lake) -> None:
    publication = filled_twice(lake)
    compact(lake)
    append(lake.target, rows_of("late", days(0, 1)))
    assert refused(lake, publication).versions == (4, 3)


def test_of_two_moved_days_only_the_changed_one_is_named(lake: Lake) -> None:
    publication = filled_twice(lake, 2)
    compact(lake)
    append(lake.target, rows_of("late", days(1, 1)))
    raised = refused(lake, publication)
    assert (raised.days, raised.versions) == (tuple(days(1, 1)), (4, 3))


def test_a_row_that_was_rewritten_without_changing_any_number_is_refused(lake: Lake) -> None:
    """As many rows, the same minima and maxima: only the writer's own word tells."""
    rows: list[Row] = [(FIRST, "a", 1), (FIRST, "b", 2), (FIRST, "c", 3)]
    append(lake.target, rows)
    lake.stage(1, rows_of("run1", days(0, 1)))
    publication = lake.review(1, days(0, 1))
    write_deltalake(
        lake.target, frame([(FIRST, "a", 1), (FIRST, "b", 3), (FIRST, "c", 3)]), mode="overwrite"
    )
    assert refused(lake, publication).versions == (2,)


@pytest.mark.parametrize(
    "rows",
    [
        [(FIRST, "a", 1)],
        [(FIRST, "a", 1), (FIRST, "b", None)],
        [(FIRST, "a", 1), (FIRST, "b", 2), (FIRST, "c", 3)],
    ],
    ids=["a row fewer", "a null more", "a row more"],
)
def test_a_promise_that_the_numbers_contradict_is_not_believed(lake: Lake, rows: list[Row]) -> None:
    append(lake.target, [(FIRST, "a", 1), (FIRST, "b", 2)])
    lake.stage(1, rows_of("run1", days(0, 1)))
    publication = lake.review(1, days(0, 1))
    replace_and_promise(lake, rows)
    assert refused(lake, publication).versions == (2,)


def test_a_compaction_that_the_log_forgot_is_refused(lake: Lake) -> None:
    publication = filled_twice(lake)
    compact(lake)
    DeltaTable(lake.target).create_checkpoint()
    (lake.target / "_delta_log" / f"{3:020d}.json").unlink()
    assert "no longer in the log" in str(refused(lake, publication))


def test_compacted_statistics_may_be_missing(lake: Lake) -> None:
    """Then the footers count the rows, and the nulls of no column are compared."""
    publication = filled_twice(lake)
    compact(lake)
    entry = lake.target / "_delta_log" / f"{3:020d}.json"
    actions = [json.loads(line) for line in entry.read_text().splitlines()]
    actions[-1]["add"]["stats"] = None
    entry.write_text("\n".join(json.dumps(action) for action in actions))
    outcome = publish(lake.target, lake.staging(1), publication)
    assert isinstance(outcome, Published)
    assert outcome.compaction == Compaction(days=(FIRST,), versions=(3,))


def test_rows_that_two_compactions_at_once_have_doubled_are_refused(lake: Lake) -> None:
    """delta-rs 1.6.6 lets both of them commit, and each leaves the rows in a file of its own. Their
    promise is broken by that, and the numbers show it."""
    publication = filled_twice(lake)
    late = DeltaTable(lake.target)
    compact(lake)
    late.optimize.compact()
    assert len(read_rows(lake.target)) == 8
    assert refused(lake, publication).versions == (4, 3)


def test_a_compaction_after_the_look_at_the_base_makes_the_commit_look_again(lake: Lake) -> None:
    publication = filled_twice(lake)
    adds = check_staged_files(lake.target, lake.staging(1), publication, columns=COLUMNS)
    looked_at = open_table(lake.target)
    assert looked_at is not None
    compact(lake)
    with pytest.raises(LostRace):
        commit_replacement(looked_at, lake.target, publication, adds)
    assert len(read_rows(lake.target)) == 4


def test_a_return_sees_through_a_compaction_too(lake: Lake) -> None:
    publish(lake.target, lake.staging(1), filled_twice(lake))
    append(lake.target, rows_of("beside", days(1, 1)))
    versions = dict.fromkeys(days(0, 1), 2)
    publication = review_return(lake, versions)
    DeltaTable(lake.target).optimize.z_order(["id"])
    outcome = return_partitions(lake.target, publication, versions)
    assert isinstance(outcome, Published)
    assert outcome.compaction == Compaction(days=(FIRST,), versions=(5,))
    assert read_rows(lake.target) == sorted(
        rows_of("live", days(0, 1)) + rows_of("more", days(0, 1)) + rows_of("beside", days(1, 1))
    )
