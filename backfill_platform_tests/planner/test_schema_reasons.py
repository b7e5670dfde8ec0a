"""A run may change its target's columns where nobody loses anything, or where somebody said so."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from backfill_platform.domain.contracts import LINEAGE_COLUMNS, Column
from backfill_platform.domain.findings import Check, Severity
from backfill_platform.domain.manifests import manifest_from_json, manifest_json
from backfill_platform.domain.modes import ExecutionMode, PublishMode, PublishScope, VersionColumn
from backfill_platform.domain.partitions import PartitionSet
from backfill_platform.domain.schema_changes import SchemaChange, SchemaChangeKind
from backfill_platform.planner.facts import Facts, SchemaFacts
from backfill_platform_tests.declarations import SCHEMA
from backfill_platform_tests.planner.worlds import (
    FACTS,
    INTENT,
    MARCH,
    finding,
    make_world,
    plan,
    reasons,
    with_target,
)

K = SchemaChangeKind
DECLARED = (*SCHEMA.columns, *LINEAGE_COLUMNS)
STAYING = (date(2025, 5, 1), date(2025, 5, 2))
NOTE = Column(name="note", type="string", is_nullable=True)
WHOLE = make_world(publish_scope=PublishScope.WHOLE_RUN)
ONE_DAY = replace(INTENT, days=PartitionSet.of_days([MARCH.start]))
DARK = replace(INTENT, publish_scope=PublishScope.DARK)


def held(*columns: Column, without: str = "", **known: Any) -> Facts:
    """The target has these columns now: those declared, with these instead or beside them."""
    changed = {column.name: column for column in columns}
    there = {column.name: column for column in DECLARED if column.name != without} | changed
    schema = SchemaFacts(columns=tuple(there.values()), declared=DECLARED, **known)
    return with_target(schema=schema)


def amount(kind: str = "long", *, is_nullable: bool = True) -> Column:
    return Column(name="amount", type=kind, is_nullable=is_nullable)


def consenting(*columns: str, **changes: Any):
    return replace(INTENT, accepted_schema_changes=frozenset(columns), **changes)


LESS = held(NOTE)  # the declared columns lack one that the target has
NARROWER = held(amount("string"))
TIGHTER = held(Column(name="case_id", type="string", is_nullable=True))


def test_a_target_that_has_the_declared_columns_passes():
    found = finding(Check.SCHEMA_KEPT, facts=held())
    assert (found.severity, found.message) == (Severity.PASS, "the target's columns stay")


def test_a_target_that_is_not_there_yet_has_nothing_to_change():
    assert plan(facts=with_target(schema=None)).target.schema_changes == ()


def test_a_new_nullable_column_asks_nobody_and_stands_in_the_manifest():
    manifest = plan(facts=held(without="amount"))
    added = SchemaChange(kind=K.ADDED, column="amount", before=None, after="long")
    assert manifest.target.schema_changes == (added,)
    assert manifest_from_json(manifest_json(manifest)) == manifest


def test_a_wider_type_asks_nobody_and_is_told():
    found = finding(Check.SCHEMA_KEPT, facts=held(amount("integer")))
    assert found.severity is Severity.PASS
    assert "column 'amount' is widened from integer to long" in found.message


def test_a_column_is_not_removed_without_consent():
    said = reasons(facts=LESS)
    assert "column 'note' (string) is removed, and consumers lose it" in said
    assert "`--accept-schema-change note`" in said


def test_a_column_that_may_become_null_needs_consent():
    facts = held(amount(is_nullable=False))
    assert "column 'amount' may be null from now on" in reasons(facts=facts)


def test_a_consented_change_is_a_warning_that_names_who_consented():
    found = finding(Check.SCHEMA_KEPT, consenting("note"), facts=LESS)
    assert found.severity is Severity.WARN
    assert "column 'note' (string) is removed" in found.message
    assert "as data-platform consented" in found.message


def test_consent_to_a_column_that_does_not_change_is_refused():
    said = reasons(consenting("note", "case_id"), facts=LESS)
    assert "`--accept-schema-change case_id` names a column" in said
    assert "those that change are note" in said


def test_consent_is_refused_where_there_is_no_target_yet():
    said = reasons(consenting("note"), facts=with_target(schema=None))
    assert "does not change; none does" in said


def test_a_narrower_type_is_refused_while_files_of_the_former_type_stay():
    facts = held(amount("string"), staying_days=STAYING)
    said = reasons(consenting("amount"), facts=facts, catalog=WHOLE)
    assert "2025-05-01..2025-05-02 holds 'amount' as string and is not replaced" in said
    assert '`--days "2025-03-01..2025-03-31, 2025-05-01..2025-05-02"`' in said


def test_a_narrower_type_is_planned_where_every_partition_is_replaced():
    manifest = plan(consenting("amount"), facts=NARROWER, catalog=WHOLE)
    assert [change.kind for change in manifest.target.schema_changes] == [K.NARROWED]


def test_a_table_that_keeps_every_version_is_told_to_declare_another_column():
    catalog = make_world(
        publish_mode=PublishMode.VERSIONED,
        version_column=VersionColumn.AS_OF_DATE,
        publish_scope=PublishScope.WHOLE_RUN,
    )
    facts = held(amount("string"), staying_days=STAYING)
    said = reasons(consenting("amount"), facts=facts, catalog=catalog)
    assert "every version of the output stays, so declare a column of another name" in said


def test_a_column_that_may_hold_nulls_elsewhere_is_not_tightened():
    facts = held(
        Column(name="case_id", type="string", is_nullable=True), perhaps_null={"case_id": STAYING}
    )
    said = reasons(consenting("case_id"), facts=facts, catalog=WHOLE)
    assert "2025-05-01..2025-05-02 may hold nulls in 'case_id'" in said


def test_a_column_is_tightened_where_the_log_counts_no_null():
    manifest = plan(consenting("case_id"), facts=TIGHTER, catalog=WHOLE)
    assert [change.kind for change in manifest.target.schema_changes] == [K.TIGHTENED]


@pytest.mark.parametrize(
    ("column", "facts"), [("amount", NARROWER), ("case_id", TIGHTER)], ids=["narrower", "tighter"]
)
def test_what_binds_old_rows_is_not_published_chunk_by_chunk(column, facts):
    assert "use `--publish-scope whole-run`" in reasons(consenting(column), facts=facts)


def test_a_single_day_is_one_commit_whatever_the_scope():
    intent = replace(ONE_DAY, accepted_schema_changes=frozenset({"amount"}))
    assert plan(intent, facts=NARROWER).target.publish_scope is PublishScope.PROGRESSIVE


def test_a_new_column_that_takes_no_null_needs_consent_and_every_partition():
    facts = held(without="case_id", staying_days=STAYING, perhaps_null={"case_id": STAYING})
    said = reasons(facts=facts, catalog=WHOLE)
    assert "`--accept-schema-change case_id`" in said
    assert "may hold nulls in 'case_id'" in said


def test_an_input_that_is_behind_its_declaration_is_a_warning():
    former = tuple(column for column in SCHEMA.columns if column.name != "amount")
    behind = replace(FACTS.inputs["landing.events"], columns=former)
    facts = replace(FACTS, inputs={"landing.events": behind})
    found = finding(Check.SCHEMA_KEPT, facts=facts)
    assert found.severity is Severity.WARN
    assert found.message.startswith("landing.events does not have 'amount' as declared yet")


def test_a_name_that_differs_in_case_alone_is_refused():
    facts = held(Column(name="Amount", type="long", is_nullable=True))
    assert "'Amount' and 'amount' differ in upper and lower case alone" in reasons(facts=facts)


def test_the_partition_column_cannot_change():
    facts = held(Column(name="day", type="date", is_nullable=True))
    assert "is partitioned by 'day', which cannot change" in reasons(consenting("day"), facts=facts)


def test_a_former_column_of_another_type_does_not_come_back_under_its_name():
    facts = held(without="amount", held_types={"amount": ("string",)})
    assert "hold a former column 'amount' as string" in reasons(facts=facts)


def test_a_former_column_that_comes_back_with_its_values_is_a_warning():
    facts = held(without="amount", held_types={"amount": ("integer", "long")})
    found = finding(Check.SCHEMA_KEPT, facts=facts)
    assert found.severity is Severity.WARN
    assert "their rows show its values again" in found.message


@pytest.mark.parametrize(
    "intent", [DARK, replace(INTENT, mode=ExecutionMode.DRY_RUN)], ids=["dark", "dry run"]
)
def test_what_is_never_published_is_planned_and_warned_of(intent):
    found = finding(Check.SCHEMA_KEPT, intent, facts=LESS)
    assert found.severity is Severity.WARN
    assert "`--accept-schema-change note`" in found.message
