"""How columns may change: told without order or chance, and what harms nobody told apart."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backfill_platform.domain.contracts import Column
from backfill_platform.domain.schema_changes import (
    SchemaChange,
    SchemaChangeKind,
    alike_names,
    apply_changes,
    compare_schemas,
    is_widening,
)

K = SchemaChangeKind
TYPES = ("byte", "short", "integer", "long", "double", "string", "decimal(9,2)", "decimal(12,4)")

columns = st.builds(
    Column, name=st.sampled_from("abcdef"), type=st.sampled_from(TYPES), is_nullable=st.booleans()
)
schemas = st.lists(columns, max_size=6, unique_by=lambda column: column.name).map(tuple)


def column(name: str = "total", kind: str = "long", *, is_nullable: bool = True) -> Column:
    return Column(name=name, type=kind, is_nullable=is_nullable)


def kinds(before: tuple[Column, ...], after: tuple[Column, ...]) -> list[SchemaChangeKind]:
    return [change.kind for change in compare_schemas(before, after)]


@given(schemas)
def test_nothing_changes_where_the_columns_stay(schema):
    assert compare_schemas(schema, schema) == ()


@given(schemas, st.randoms(use_true_random=False))
def test_the_order_of_columns_is_no_change(schema, random):
    assert compare_schemas(schema, tuple(random.sample(schema, len(schema)))) == ()


@given(schemas, schemas, st.randoms(use_true_random=False))
def test_changes_are_the_same_in_whatever_order_columns_stand(before, after, random):
    shuffled = tuple(random.sample(before, len(before))), tuple(random.sample(after, len(after)))
    assert compare_schemas(*shuffled) == compare_schemas(before, after)


@given(schemas, schemas)
def test_exactly_the_columns_that_differ_are_named(before, after):
    differing = {one.name for one in {*before} ^ {*after}}
    assert {change.column for change in compare_schemas(before, after)} == differing


@given(schemas, schemas)
def test_changes_stand_in_the_order_of_their_columns_and_never_twice(before, after):
    changes = compare_schemas(before, after)
    named = [change.column for change in changes]
    assert named == sorted(named)
    assert len(set(changes)) == len(changes)


@given(schemas, schemas)
def test_what_is_added_one_way_is_removed_the_other_way(before, after):
    added = {one.column for one in compare_schemas(before, after) if one.kind is K.ADDED}
    removed = {one.column for one in compare_schemas(after, before) if one.kind is K.REMOVED}
    assert added == removed


@given(schemas, schemas)
def test_what_is_widened_one_way_is_narrowed_the_other_way(before, after):
    widened = {one.column for one in compare_schemas(before, after) if one.kind is K.WIDENED}
    narrowed = {one.column for one in compare_schemas(after, before) if one.kind is K.NARROWED}
    assert widened <= narrowed


@given(schemas, schemas)
def test_columns_with_the_changes_applied_are_the_new_ones(before, after):
    assert {*apply_changes(before, compare_schemas(before, after))} == {*after}


@given(schemas, schemas)
def test_changes_that_have_happened_already_change_nothing_more(before, after):
    assert {*apply_changes(after, compare_schemas(before, after))} == {*after}


def test_a_change_names_both_types():
    assert compare_schemas((column(kind="integer"),), (column(kind="long"),)) == (
        SchemaChange(kind=K.WIDENED, column="total", before="integer", after="long"),
    )


def test_a_new_nullable_column_is_added():
    assert kinds((), (column(),)) == [K.ADDED]


def test_a_new_column_that_takes_no_null_binds_the_old_rows_too():
    assert kinds((), (column(is_nullable=False),)) == [K.ADDED, K.TIGHTENED]


def test_a_column_that_is_gone_is_removed_whatever_it_was():
    assert kinds((column(is_nullable=False),), ()) == [K.REMOVED]


def test_a_column_can_change_its_type_and_its_nullability_at_once():
    before, after = column(kind="integer", is_nullable=False), column(kind="long")
    assert kinds((before,), (after,)) == [K.WIDENED, K.RELAXED]


def test_a_column_that_may_not_be_null_any_more_is_tightened():
    assert kinds((column(),), (replace(column(), is_nullable=False),)) == [K.TIGHTENED]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("byte", "short"),
        ("byte", "long"),
        ("short", "integer"),
        ("integer", "long"),
        ("decimal(5,2)", "decimal(9,2)"),
        ("decimal(12,2)", "decimal(25,2)"),
        ("decimal(5,2)", "decimal(7,4)"),
        ("decimal(18,2)", "decimal(38,10)"),
    ],
)
def test_types_that_every_reader_reads_rightly_are_widened(before: str, after: str):
    assert is_widening(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("long", "integer"),
        ("long", "long"),
        ("integer", "double"),
        ("integer", "decimal(12,2)"),
        ("float", "double"),  # a file's statistics say 0.1 where the double is above it
        ("date", "timestamp"),
        ("string", "binary"),
        ("decimal(9,2)", "decimal(9,2)"),
        ("decimal(9,2)", "decimal(9,4)"),  # less room before the point
        ("decimal(9,2)", "decimal(12,1)"),
    ],
)
def test_types_that_some_reader_reads_wrongly_are_not_widened(before: str, after: str):
    assert not is_widening(before, after)


def test_names_that_differ_in_case_alone_are_told():
    assert alike_names((column("Total"),), (column("total"), column("day"))) == ("Total", "total")


def test_a_column_that_stays_collides_with_nothing():
    assert alike_names((column(),), (column(),)) == ()
