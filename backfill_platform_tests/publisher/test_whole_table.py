"""A table that takes another's place: what else the target holds then is neither kept nor lost."""

from dataclasses import replace

import pytest

from backfill_platform.domain.errors import TargetMoved
from backfill_platform.publisher.replace_partitions import publish
from backfill_platform_tests.publisher.tables import (
    Lake,
    append,
    days,
    read_rows,
    rows_of,
)

TABLE, LATER = days(0, 2), days(5, 1)


def swap(lake: Lake, number: int = 1):
    staging = lake.stage(number, rows_of("new", TABLE))
    return staging, replace(lake.review(number, TABLE), is_whole_table=True)


def test_a_swap_leaves_exactly_the_new_table(lake: Lake) -> None:
    append(lake.target, rows_of("old", TABLE))
    staging, publication = swap(lake)
    publish(lake.target, staging, publication)
    assert read_rows(lake.target) == sorted(rows_of("new", TABLE))


def test_a_swap_is_refused_where_the_target_holds_another_day(lake: Lake) -> None:
    append(lake.target, rows_of("old", TABLE))
    staging, publication = swap(lake)
    append(lake.target, rows_of("somebody", LATER))
    with pytest.raises(TargetMoved, match="2025-01-06") as refused:
        publish(lake.target, staging, publication)
    assert refused.value.days == tuple(LATER)
    assert read_rows(lake.target) == sorted([*rows_of("old", TABLE), *rows_of("somebody", LATER)])


def test_a_day_that_comes_right_before_the_commit_is_not_overlooked(lake: Lake) -> None:
    """The commit then loses its race, and the table is looked at again."""
    staging, publication = swap(lake)
    once = iter([lambda: append(lake.target, rows_of("somebody", LATER))])
    with pytest.raises(TargetMoved, match="2025-01-06"):
        publish(
            lake.target,
            staging,
            publication,
            before_commit=lambda: next(once, lambda: None)(),
        )
    assert read_rows(lake.target) == sorted(rows_of("somebody", LATER))


def test_what_replaces_partitions_only_leaves_other_days_alone(lake: Lake) -> None:
    append(lake.target, rows_of("somebody", LATER))
    staging, publication = swap(lake)
    publish(lake.target, staging, replace(publication, is_whole_table=False))
    assert read_rows(lake.target) == sorted([*rows_of("new", TABLE), *rows_of("somebody", LATER)])
