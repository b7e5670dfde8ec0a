"""Every mistake in a declaration is one error that names the table and the field."""

from dataclasses import replace
from datetime import date

import pytest

from backfill_platform.domain.catalog import Declarations, build_catalog
from backfill_platform.domain.contracts import Column, Contract
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.domain.limits import Limits
from backfill_platform.domain.modes import LiveConflicts
from backfill_platform.domain.partitions import Boundary
from backfill_platform.domain.tables import Input, ReferenceUse
from backfill_platform.domain.transforms import TransformVersion
from backfill_platform_tests.declarations import SCHEMA, SOURCE, make_table, transform


def contract_of(_model: type) -> Contract:
    return SCHEMA


def build(*tables, read=contract_of, sources=(SOURCE,)):
    return build_catalog(
        Declarations(sources=sources, references=(), tables=tables), read_contract=read
    )


def test_tables_stand_after_their_inputs():
    gold = make_table("gold", "totals", inputs=(Input(name="silver.cases"),))
    silver = make_table("silver", "cases", inputs=(Input(name="landing.events"),))
    assert list(build(gold, silver).tables) == ["silver.cases", "gold.totals"]


def test_an_unknown_input_names_the_table_and_the_field():
    with pytest.raises(
        DeclarationInvalid, match=r"silver\.cases: inputs: unknown input 'bronze\.x'"
    ):
        build(make_table("silver", "cases", inputs=(Input(name="bronze.x"),)))


def test_a_key_that_is_not_in_the_schema_is_refused():
    with pytest.raises(
        DeclarationInvalid, match=r"silver\.cases: keys: 'case' is not in the schema"
    ):
        build(make_table(keys=("day", "case")))


def test_keys_without_the_partition_column_are_refused():
    with pytest.raises(DeclarationInvalid, match=r"silver\.cases: keys: must contain 'day'"):
        build(make_table(keys=("case_id",)))


def test_tables_that_feed_each_other_are_refused():
    one = make_table("silver", "one", inputs=(Input(name="silver.two"),))
    two = make_table("silver", "two", inputs=(Input(name="silver.one"),))
    with pytest.raises(DeclarationInvalid, match=r"inputs: tables feed each other"):
        build(one, two)


def test_a_partition_column_that_is_no_date_is_refused():
    text_day = Contract(
        columns=(Column(name="day", type="string", is_nullable=False), *SCHEMA.columns[1:]),
        checks=(),
    )
    with pytest.raises(DeclarationInvalid, match=r"partition_column: 'day' is a string"):
        build(make_table(), read=lambda _model: text_day)


def test_a_transform_version_that_stands_twice_is_refused():
    twice = (transform("1.0.0"), transform("1.0.0"))
    with pytest.raises(DeclarationInvalid, match=r"transforms: '1\.0\.0' is declared twice"):
        build(make_table(transforms=twice))


def test_a_version_that_is_not_semantic_is_refused():
    odd = TransformVersion(
        version="v1", function=transform("1.0.0").function, released_on=date(2025, 1, 1), note=""
    )
    with pytest.raises(DeclarationInvalid, match=r"'v1' is not a semantic version"):
        build(make_table(transforms=(odd,)))


def test_a_table_declared_twice_is_refused():
    with pytest.raises(
        DeclarationInvalid, match=r"silver\.cases: name: this table is declared twice"
    ):
        build(make_table(), make_table())


def test_unknown_reference_data_is_refused():
    with pytest.raises(DeclarationInvalid, match=r"references: unknown reference 'calendar'"):
        build(make_table(references=(ReferenceUse(name="calendar", version="v1"),)))


def test_a_schema_that_claims_a_lineage_column_is_refused():
    claimed = replace(
        SCHEMA,
        columns=(
            *SCHEMA.columns,
            Column(name="produced_by_run_id", type="string", is_nullable=False),
        ),
    )
    with pytest.raises(DeclarationInvalid, match="is a lineage column of the platform"):
        build(make_table(), read=lambda _model: claimed)


def test_a_table_name_that_is_no_identifier_is_refused():
    with pytest.raises(DeclarationInvalid, match=r"name: '\.\./x' must be lower case"):
        build(make_table(name="../x"))


def test_a_source_outside_the_landing_root_is_refused():
    with pytest.raises(DeclarationInvalid, match="must lie below the landing root"):
        build(make_table(), sources=(replace(SOURCE, path="../elsewhere"),))


def test_a_chunk_that_holds_no_whole_month_is_refused():
    with pytest.raises(DeclarationInvalid, match=r"chunk_days: 30 holds no whole MONTH; use 31"):
        build(make_table(boundary=Boundary.MONTH, chunk_days=30))


def test_a_chunk_of_less_than_a_day_is_refused():
    with pytest.raises(DeclarationInvalid, match=r"chunk_days: 0 holds no whole DAY; use 1"):
        build(make_table(chunk_days=0))


def test_a_start_within_a_week_names_the_two_starts_that_would_do():
    with pytest.raises(DeclarationInvalid, match="cuts a WEEK; use 2024-12-30 or 2025-01-06"):
        build(make_table(boundary=Boundary.WEEK, start=date(2025, 1, 1)))


def test_a_table_by_the_month_may_begin_with_one():
    assert build(make_table(boundary=Boundary.MONTH, start=date(2025, 1, 1)))


def test_limits_that_nobody_could_keep_are_refused():
    with pytest.raises(DeclarationInvalid, match=r"silver\.cases: limits: max_rows is -5"):
        build(make_table(limits=Limits(max_rows=-5)))


@pytest.mark.parametrize("field", ["limits", "classification", "boundary", "publish_scope"])
def test_a_rule_that_is_no_word_of_the_platform_is_refused(field):
    with pytest.raises(DeclarationInvalid, match=rf"silver\.cases: {field}: 'SECRET' is not of"):
        build(make_table(**{field: "SECRET"}))


def test_a_source_without_a_classification_is_refused():
    nothing = replace(SOURCE, classification=None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(DeclarationInvalid, match=r"landing\.events: classification: None is not"):
        build(make_table(), sources=(nothing,))


def test_a_retention_of_no_days_is_refused():
    with pytest.raises(DeclarationInvalid, match=r"retention_days: 0 keeps not a single day"):
        build(make_table(retention_days=0))


def test_a_source_with_a_retention_of_no_days_is_refused():
    with pytest.raises(DeclarationInvalid, match=r"landing\.events: retention_days: -1 keeps"):
        build(make_table(), sources=(replace(SOURCE, retention_days=-1),))


@pytest.mark.parametrize("conflicts", [LiveConflicts.VERSIONED, LiveConflicts.MERGE_BY_VERSION])
def test_a_policy_that_the_publish_mode_cannot_keep_is_refused(conflicts):
    with pytest.raises(
        DeclarationInvalid,
        match=r"live_conflicts: \w+ cannot be kept where publication is by REPLACE_PARTITIONS; "
        "use FREEZE",
    ):
        build(make_table(live_conflicts=conflicts))


def test_a_freeze_that_ends_before_it_begins_is_refused():
    with pytest.raises(DeclarationInvalid, match="frozen_minutes: -1 is in the past"):
        build(make_table(frozen_minutes=-1))
