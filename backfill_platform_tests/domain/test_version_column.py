"""How a table says that it keeps every version of its output, and how versions are ordered."""

from datetime import date
from typing import Any

import pytest

from backfill_platform.domain.catalog import Catalog, Declarations, build_catalog
from backfill_platform.domain.contracts import Column, Contract
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.domain.modes import PublishMode, VersionColumn
from backfill_platform_tests.declarations import SCHEMA, SOURCE, make_table

KEPT = {"publish_mode": PublishMode.VERSIONED, "version_column": VersionColumn.AS_OF_DATE}


def declare(schema: Contract = SCHEMA, **changes: Any) -> Catalog:
    declared = Declarations(sources=(SOURCE,), references=(), tables=(make_table(**changes),))
    return build_catalog(declared, read_contract=lambda _model: schema)


def refusal(schema: Contract = SCHEMA, **changes: Any) -> str:
    with pytest.raises(DeclarationInvalid) as refused:
        declare(schema, **changes)
    return str(refused.value)


def test_a_table_may_keep_every_version_of_its_output() -> None:
    assert declare(**KEPT).tables["silver.cases"].version_column is VersionColumn.AS_OF_DATE


def test_a_table_that_keeps_versions_must_say_by_which_column() -> None:
    said = refusal(publish_mode=PublishMode.VERSIONED)
    assert "choose VersionColumn.AS_OF_DATE or VersionColumn.OUTPUT_VERSION" in said


def test_a_column_of_versions_where_none_are_kept_is_refused() -> None:
    assert "which keeps no versions" in refusal(version_column=VersionColumn.AS_OF_DATE)


def test_a_column_of_another_name_is_refused() -> None:
    said = refusal(publish_mode=PublishMode.VERSIONED, version_column="edition")
    assert "'edition' is not VersionColumn.AS_OF_DATE or" in said


def test_the_column_of_versions_belongs_to_the_platform() -> None:
    own = Column(name="as_of_date", type="date", is_nullable=False)
    said = refusal(Contract(columns=(*SCHEMA.columns, own), checks=()), **KEPT)
    assert "'as_of_date' is the platform's column of versions" in said


def test_a_day_may_not_be_named_like_a_version() -> None:
    own = Column(name="output_version", type="date", is_nullable=False)
    schema = Contract(columns=(*SCHEMA.columns, own), checks=())
    said = refusal(
        schema, **KEPT, partition_column="output_version", keys=("output_version", "case_id")
    )
    assert "'output_version' names versions; name the day else" in said


@pytest.mark.parametrize(
    ("column", "earlier", "later"),
    [
        (VersionColumn.OUTPUT_VERSION, "9", "10"),
        (VersionColumn.AS_OF_DATE, "2026-06-30", "2026-07-01"),
    ],
)
def test_versions_are_ordered_as_what_they_are(
    column: VersionColumn, earlier: str, later: str
) -> None:
    assert column.rank(later) - column.rank(earlier) == 1
    assert column.of_rank(column.rank(later) - 1) == earlier


def test_a_date_is_a_version_of_its_own_name() -> None:
    assert VersionColumn.AS_OF_DATE.of_rank(date(2026, 7, 4).toordinal()) == "2026-07-04"
