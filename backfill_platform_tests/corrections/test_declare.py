"""One line declares the corrections of a table, and what cannot be corrected is refused there."""

from dataclasses import replace

import pandera.pyspark as pa
import pyspark.sql.types as T
import pytest

from backfill_platform.corrections.columns import OWN_COLUMNS
from backfill_platform.corrections.declare import corrections_of
from backfill_platform.domain.catalog import Declarations, build_catalog
from backfill_platform.domain.contracts import DerivedContract
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.domain.modes import PublishMode
from backfill_platform.domain.privacy import Privacy
from backfill_platform.domain.quality import Quality, WatermarkPolicy
from backfill_platform.domain.tables import Input
from backfill_platform.enforcement.catalog import CATALOG
from backfill_platform.enforcement.silver import CASE_SLA_DAILY
from backfill_platform.validator.contract import read_contract
from backfill_platform_tests.corrections.worlds import STATIONS

CORRECTIONS = corrections_of(CASE_SLA_DAILY)


class Nested(pa.DataFrameModel):
    day: T.DateType = pa.Field(nullable=False)
    station: T.StringType = pa.Field(nullable=False)
    payload: T.BinaryType = pa.Field(nullable=True)


@pytest.fixture(scope="module")
def catalog():
    tables = (*CATALOG.tables, CORRECTIONS)
    return build_catalog(replace(CATALOG, tables=tables), read_contract)


def test_the_corrections_stand_in_the_catalog_after_the_table_that_they_correct(catalog):
    names = list(catalog.tables)
    assert names.index("silver.case_sla_daily_corrections") > names.index("silver.case_sla_daily")


def test_the_original_and_all_that_it_reads_is_read():
    assert CORRECTIONS.inputs == (*CASE_SLA_DAILY.inputs, Input(name="silver.case_sla_daily"))
    assert CORRECTIONS.references == CASE_SLA_DAILY.references


def test_days_are_closed_by_the_policy_of_the_original():
    by_window = Quality(watermark=WatermarkPolicy.BY_COMPLETE_WINDOW)
    declared = corrections_of(replace(CASE_SLA_DAILY, quality=by_window))
    assert declared.quality.watermark is WatermarkPolicy.BY_COMPLETE_WINDOW


def test_every_version_of_the_transform_can_correct():
    versions = [known.version for known in CORRECTIONS.transforms]
    assert versions == [known.version for known in CASE_SLA_DAILY.transforms]


def test_corrections_of_every_table_have_the_same_columns_beside_the_day(catalog):
    contract = catalog.contracts["silver.case_sla_daily_corrections"]
    assert set(contract.column_names) == OWN_COLUMNS | {"business_date"}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"publish_mode": PublishMode.VERSIONED}, "publish_mode"),
        ({"privacy": Privacy(subject_column="station")}, "neither masked nor forgotten"),
        ({"partition_column": "reason"}, "'reason' is a column of every correction"),
        ({"schema": Nested}, "'payload' is binary"),
        ({"schema": object}, "DataFrameModel"),
        ({"schema": DerivedContract(of=Nested, derive=lambda it: it)}, "DataFrameModel"),
    ],
    ids=["versioned", "private", "a column of its own", "bytes", "no model", "corrections"],
)
def test_a_table_whose_corrections_could_not_be_told_is_refused(changes, named):
    with pytest.raises(DeclarationInvalid, match=named):
        corrections_of(replace(STATIONS, **changes))


def test_corrections_without_their_original_are_refused():
    alone = Declarations(sources=CATALOG.sources, references=CATALOG.references, tables=())
    tables = (CATALOG.tables[0], CORRECTIONS)
    with pytest.raises(DeclarationInvalid, match=r"unknown input .silver\.case_sla_daily."):
        build_catalog(replace(alone, tables=tables), read_contract)
