"""What a table declares about its publication has to be something that can be kept."""

from dataclasses import replace
from typing import Any

import pytest

from backfill_platform.domain.announcements import Announcement, Event
from backfill_platform.domain.catalog import Catalog, Declarations, build_catalog
from backfill_platform.domain.contracts import Column, Contract
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.domain.modes import LiveConflicts, PublishMode, VersionColumn
from backfill_platform.domain.tables import KeyedMerge
from backfill_platform_tests.declarations import SCHEMA, SOURCE, make_table

VERSION = Column(name="revision", type="long", is_nullable=False)
OPERATION = Column(name="operation", type="string", is_nullable=False)
RULE = KeyedMerge(version_column="revision", operation_column="operation")
BY_KEY = PublishMode.MERGE_BY_KEY


def declare(*, version: Column = VERSION, operation: Column = OPERATION, **changes: Any) -> Catalog:
    contract = Contract(columns=(*SCHEMA.columns, version, operation), checks=())
    table = make_table(**({"publish_mode": BY_KEY, "merge": RULE} | changes))
    return build_catalog(
        Declarations(sources=(SOURCE,), references=(), tables=(table,)),
        read_contract=lambda _model: contract,
    )


def refused(**changes: Any) -> str:
    with pytest.raises(DeclarationInvalid) as refusal:
        declare(**changes)
    return str(refusal.value)


@pytest.mark.parametrize(
    "kind", ["byte", "integer", "long", "decimal(38,0)", "date", "timestamp", "timestamp_ntz"]
)
def test_a_version_may_be_anything_that_has_an_order(kind):
    assert declare(version=replace(VERSION, type=kind))


@pytest.mark.parametrize("kind", ["string", "double", "float", "boolean", "binary"])
def test_a_version_without_a_reliable_order_is_refused(kind):
    said = refused(version=replace(VERSION, type=kind))
    assert f"silver.cases: merge: version_column 'revision' is of type {kind}" in said
    assert "use an integer, a decimal, a date or a timestamp" in said


def test_a_version_that_may_be_null_is_refused():
    said = refused(version=replace(VERSION, is_nullable=True))
    assert "version_column 'revision' may be null, which decides nothing" in said


def test_a_version_that_is_not_in_the_schema_is_refused():
    said = refused(merge=KeyedMerge(version_column="changed_at"))
    assert "version_column 'changed_at' is not in the schema (day, case_id, amount" in said


@pytest.mark.parametrize("column", ["day", "case_id"])
def test_a_version_that_is_part_of_the_key_is_refused(column):
    said = refused(merge=KeyedMerge(version_column=column))
    assert f"version_column {column!r} is one of the keys" in said


def test_without_an_operation_nothing_is_ever_deleted():
    assert declare(merge=KeyedMerge(version_column="revision"))


def test_an_operation_that_is_not_in_the_schema_is_refused():
    said = refused(merge=replace(RULE, operation_column="op"))
    assert "operation_column 'op' is not in the schema" in said


def test_an_operation_that_is_no_word_is_refused():
    said = refused(operation=replace(OPERATION, type="integer"))
    assert "operation_column 'operation' is of type integer; operations are words" in said


def test_an_operation_that_may_be_null_is_refused():
    said = refused(operation=replace(OPERATION, is_nullable=True))
    assert "operation_column 'operation' may be null" in said


def test_one_column_is_not_both_version_and_operation():
    said = refused(merge=replace(RULE, operation_column="revision"))
    assert "'revision' is the version_column already" in said


def test_a_merge_without_its_rule_is_refused():
    assert "merge: publication is by MERGE_BY_KEY; name a KeyedMerge" in refused(merge=None)


def test_a_rule_where_nothing_is_merged_is_refused():
    said = refused(publish_mode=PublishMode.APPEND_ONLY)
    assert "merge: publication is by APPEND_ONLY, which merges nothing; leave it out" in said


def test_a_rule_that_is_no_rule_is_refused():
    assert "merge: 'revision' is not of type KeyedMerge" in refused(merge="revision")


def test_a_mode_that_is_no_word_of_the_platform_is_refused():
    assert "publish_mode: 'UPSERT' is not of type PublishMode" in refused(publish_mode="UPSERT")


@pytest.mark.parametrize("conflicts", [LiveConflicts.FREEZE, LiveConflicts.MERGE_BY_VERSION])
def test_a_keyed_merge_may_freeze_live_writers_out_or_merge_with_them(conflicts):
    assert declare(live_conflicts=conflicts)


@pytest.mark.parametrize("conflicts", [LiveConflicts.FREEZE, LiveConflicts.VERSIONED])
def test_versioned_output_may_freeze_live_writers_out_or_stand_beside_theirs(conflicts):
    assert declare(
        publish_mode=PublishMode.VERSIONED,
        merge=None,
        version_column=VersionColumn.OUTPUT_VERSION,
        live_conflicts=conflicts,
    )


@pytest.mark.parametrize(
    ("mode", "rule", "conflicts"),
    [
        (BY_KEY, RULE, LiveConflicts.VERSIONED),
        (PublishMode.VERSIONED, None, LiveConflicts.MERGE_BY_VERSION),
        (PublishMode.APPEND_ONLY, None, LiveConflicts.MERGE_BY_VERSION),
        (PublishMode.SHADOW_SWAP, None, LiveConflicts.VERSIONED),
    ],
)
def test_a_policy_is_refused_where_the_mode_cannot_keep_it(mode, rule, conflicts):
    said = refused(
        publish_mode=mode,
        merge=rule,
        version_column=(VersionColumn.OUTPUT_VERSION if mode is PublishMode.VERSIONED else None),
        live_conflicts=conflicts,
    )
    assert f"live_conflicts: {conflicts} cannot be kept where publication is by {mode}" in said


def test_minutes_of_a_freeze_are_refused_where_nobody_is_frozen_out():
    said = refused(live_conflicts=LiveConflicts.MERGE_BY_VERSION, frozen_minutes=5)
    assert "frozen_minutes: MERGE_BY_VERSION freezes nobody out" in said


def on_topic(topic: str) -> Announcement:
    nothing = Event(key=b"", value=b"", headers=())
    return Announcement(topic=topic, told=lambda _row: nothing, taken_back=lambda _row: nothing)


@pytest.mark.parametrize("topic", ["", "two words", "a/b", "x" * 250])
def test_what_is_no_name_of_a_topic_is_refused(topic):
    assert "is no name of a topic" in refused(announcement=on_topic(topic))


def test_a_table_that_keeps_every_version_has_nothing_to_take_back_on_a_topic():
    said = refused(
        announcement=on_topic("told"),
        publish_mode=PublishMode.VERSIONED,
        version_column=VersionColumn.OUTPUT_VERSION,
        merge=None,
    )
    assert "announcement: every version of its output is kept" in said
