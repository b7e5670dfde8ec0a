"""How each declared check is carried out, and what is refused before there is any data. No JVM."""

import re
from datetime import date
from typing import Any, ClassVar

import pandera.pyspark as pa
import pyspark.sql.types as T
import pytest
from pandera.backends.pyspark import builtin_checks

from backfill_platform.corrections.declare import corrections_of
from backfill_platform.domain.contracts import Column, ColumnCheck, Contract, Unique
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.validator.checks import COMPILED
from backfill_platform.validator.contract import read_contract
from backfill_platform_tests.corrections.worlds import STATIONS


def contract_of(column_type: Any, **checks: Any) -> Contract:
    """Of a model with one column."""
    fields = {"__annotations__": {"v": column_type}, "v": pa.Field(nullable=True, **checks)}
    return read_contract(type("Declared", (pa.DataFrameModel,), fields))


def test_every_check_that_pandera_has_for_spark_is_compiled():
    its_own = [one for one in vars(builtin_checks).values() if hasattr(one, "__wrapped__")]
    built_in = {one.__name__ for one in its_own if one.__module__ == builtin_checks.__name__}
    assert built_in == COMPILED


def test_a_check_that_was_given_a_name_is_still_the_same_check():
    class Named(pa.DataFrameModel):
        v: T.LongType = pa.Field(ge={"min_value": 0, "name": "not negative"})

    (check,) = read_contract(Named).checks
    assert check.check == "greater_than_or_equal_to"


def test_checks_of_peoples_own_run_by_pandera_and_say_so_whatever_they_are_called():
    class Own(pa.DataFrameModel):
        v: T.LongType = pa.Field(ge=0)

        @pa.check("v")
        @classmethod
        def isin(cls, _rows):
            return True

        @pa.dataframe_check
        @classmethod
        def adds_up(cls, _rows):
            return True

    contract = read_contract(Own)
    assert [check.name for check in contract.checks] == ["v_greater_than_or_equal_to"]
    assert contract.check_names[1:] == (
        "v_isin (by pandera itself)",
        "adds_up (by pandera itself)",
    )


def test_values_that_spark_tells_apart_otherwise_than_python_are_left_to_pandera():
    contract = contract_of(T.DecimalType(12, 2), unique_values_eq=[1.5])
    assert contract.checks == ()
    assert contract.check_names == ("v_unique_values_eq (by pandera itself)",)


def test_columns_that_are_unique_together_are_read():
    class Pairs(pa.DataFrameModel):
        a: T.LongType = pa.Field()
        b: T.LongType = pa.Field()

        class Config:
            unique: ClassVar = ["a", "b"]

    assert read_contract(Pairs).uniques == (Unique(columns=("a", "b")),)


def test_a_contract_without_what_is_new_keeps_its_digest():
    contract = Contract(
        columns=(Column(name="v", type="long", is_nullable=False),),
        checks=(ColumnCheck(column="v", check="greater_than", arguments={"min_value": 0}),),
    )
    known = "7ec4979d13c88d00903d5783ad8f5b1dc27aac3d9745c95350610f1383736954"
    assert contract.digest == known


def test_each_rule_of_a_contract_is_part_of_its_digest():
    plain = contract_of(T.LongType)
    unique = Contract(columns=plain.columns, checks=(), uniques=(Unique(columns=("v",)),))
    own = contract_of(T.LongType, unique_values_eq=[1.5])
    assert len({plain.digest, unique.digest, own.digest}) == 3


@pytest.mark.parametrize(
    ("column_type", "checks", "said"),
    [
        (T.LongType, {"str_matches": "a"}, "'str_matches' is not for long, but for string"),
        (T.BooleanType, {"isin": [True]}, "'isin' is not for boolean"),
        (T.LongType, {"gt": "many"}, "compares long with 'many'; write a value of that type"),
        (T.LongType, {"eq": True}, "compares long with True"),
        (T.StringType, {"eq": 2}, "compares string with 2"),
        (T.DateType, {"ge": "yesterday"}, "compares date with 'yesterday'"),
        (T.StringType, {"isin": ["a", None]}, "compares string with None"),
        (T.StringType, {"str_matches": re.compile("a", re.IGNORECASE)}, "has flags"),
        (T.LongType, {"ge": 0, "raise_warning": True}, "has raise_warning"),
        (T.LongType, {"ge": 0, "ignore_na": False}, "has ignore_na=False"),
        (T.LongType, {"coerce": True}, "coerce is not kept"),
        (T.LongType, {"regex": True}, "regex is not kept"),
        (Any, {}, "a type of `Any` is not kept"),
    ],
)
def test_what_pandera_would_leave_out_or_fail_on_later_is_refused_with_its_column(
    column_type, checks, said
):
    with pytest.raises(DeclarationInvalid, match=rf"^Declared: v: .*{re.escape(said)}"):
        contract_of(column_type, **checks)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"coerce": True}, "coerce is not kept"),
        ({"strict": "filter"}, "strict='filter' is not kept"),
        ({"dtype": T.LongType}, "dtype is not kept"),
        ({"unique": ["w"]}, "unique names w, which is no column"),
        ({"greater_than": 0}, "'greater_than' is about one column"),
    ],
)
def test_options_of_a_model_that_cannot_be_kept_are_refused(options, said):
    config = type("Config", (), options)
    fields = {"__annotations__": {"v": T.LongType}, "v": pa.Field(), "Config": config}
    with pytest.raises(DeclarationInvalid, match=f"^Declared: Config: .*{re.escape(said)}"):
        read_contract(type("Declared", (pa.DataFrameModel,), fields))


def test_a_column_that_may_be_missing_is_refused():
    class Partly(pa.DataFrameModel):
        v: T.LongType | None = pa.Field()

    with pytest.raises(DeclarationInvalid, match="v: required=False is not kept"):
        read_contract(Partly)


def test_dates_may_be_written_as_texts():
    assert contract_of(T.DateType, ge="2025-01-01", lt=date(2026, 1, 1)).check_names == (
        "v_greater_than_or_equal_to",
        "v_less_than",
    )


def test_corrections_refuse_a_check_that_is_about_whole_days():
    original = read_contract(STATIONS.schema)
    unique = Contract(columns=original.columns, checks=(), uniques=(Unique(columns=("station",)),))
    with pytest.raises(DeclarationInvalid, match=r"silver\.station_days: .*unique\(station\)"):
        corrections_of(STATIONS).schema.derive(unique)
