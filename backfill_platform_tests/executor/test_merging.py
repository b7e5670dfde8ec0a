"""The rule of a keyed merge: what it is like by itself, and that Spark keeps it."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backfill_platform.domain.tables import KeyedMerge
from backfill_platform.executor.merging import Merged, merge_by_key
from backfill_platform_tests.executor.merge_model import Row, count, merge

SCHEMA = "group long, key string, version long, content string, operation string, run string"
KEYS = ("group", "key")
CONTENT = Row._fields[:-1]
RULE = KeyedMerge(version_column="version", operation_column="operation")

NAMES = st.sampled_from(["a", "b", "c", None])
VERSIONS = st.integers(1, 4)
WORDS = st.sampled_from(["x", "y", None])
OPERATIONS = st.sampled_from(["UPSERT", "DELETE"])


def rows_of(run: str, versions: st.SearchStrategy[int | None] = VERSIONS) -> st.SearchStrategy[Row]:
    return st.builds(Row, st.just(0), NAMES, versions, WORDS, OPERATIONS, st.just(run))


def partition_of(run: str) -> st.SearchStrategy[list[Row]]:
    """Each key once."""
    return st.lists(rows_of(run), max_size=4, unique_by=lambda row: row.key)


# As a run may bring them: a key twice, or a version that a gate has yet to find missing.
CHANGES = st.lists(rows_of("run", st.none() | VERSIONS), max_size=5)
EXAMPLES = st.lists(st.tuples(partition_of("base"), CHANGES), min_size=30, max_size=60)


def numbered(examples: Sequence[Sequence[Row]]) -> list[Row]:
    """Each example in a group of its own, so that one job merges all of them."""
    return [row._replace(group=number) for number, rows in enumerate(examples) for row in rows]


@pytest.fixture(scope="module")
def merge_in_spark(spark):
    def run(base: Sequence[Row], changes: Sequence[Row]) -> Merged:
        return merge_by_key(
            spark.createDataFrame(base, SCHEMA).repartition(2),
            spark.createDataFrame(changes, SCHEMA),
            keys=KEYS,
            content=CONTENT,
            rule=RULE,
        )

    return run


@settings(max_examples=8)
@given(examples=EXAMPLES)
def test_the_merge_agrees_with_its_model(merge_in_spark, examples):
    base = numbered([base for base, _ in examples])
    changes = numbered([changes for _, changes in examples])
    merged = merge_in_spark(base, changes)
    found = sorted((Row(*row) for row in merged.rows.collect()), key=repr)
    assert (found, merged.counts()) == (merge(base, changes), count(base, changes))


def test_what_is_merged_keeps_its_columns_in_their_order(merge_in_spark):
    assert merge_in_spark([], []).rows.columns == list(Row._fields)


@given(base=partition_of("base"), one=partition_of("one"), other=partition_of("other"))
def test_whoever_comes_first_the_higher_versions_stay(base, one, other):
    distinct = lift(base, 0), lift(one, 1), lift(other, 2)
    assert merge(merge(distinct[0], distinct[1]), distinct[2]) == merge(
        merge(distinct[0], distinct[2]), distinct[1]
    )


def lift(rows: list[Row], remainder: int) -> list[Row]:
    """Versions in their old order, but no two of different runs equal."""
    return [row._replace(version=3 * (row.version or 0) + remainder) for row in rows]


@given(base=partition_of("base"), changes=partition_of("run"))
def test_the_same_changes_again_change_nothing(base, changes):
    once = merge(base, changes)
    assert merge(once, changes) == once


@given(base=partition_of("base"), changes=partition_of("run"))
def test_a_key_is_never_lost(base, changes):
    keys = {row.key for row in base} | {row.key for row in changes}
    assert [row.key for row in merge(base, changes)] == sorted(keys, key=repr)


@given(base=partition_of("base"))
def test_what_no_change_is_about_stays_as_it_is(base):
    assert merge(base, []) == sorted(base, key=repr)


def row(version: int, content: str, operation: str = "UPSERT", run: str = "run") -> Row:
    return Row(0, "a", version, content, operation, run)


def test_a_row_that_says_the_same_keeps_the_lineage_it_has():
    held = row(1, "x", run="base")
    assert merge([held], [row(1, "x")]) == [held]


def test_at_equal_versions_the_run_has_the_last_word():
    assert merge([row(1, "x", run="base")], [row(1, "y")]) == [row(1, "y")]


def test_a_stale_row_does_not_bring_a_deleted_key_back():
    deleted = row(2, "x", "DELETE", run="base")
    assert merge([deleted], [row(1, "x")]) == [deleted]


def test_two_changes_for_one_key_are_both_there_to_be_counted():
    assert len(merge([row(9, "x", run="base")], [row(1, "y"), row(2, "z")])) == 2
