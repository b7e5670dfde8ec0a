"""The one pass and pandera's own engine, over generated rows and checks: the same verdicts."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import hypothesis.strategies as st
import pandera.pyspark as pa
import pyspark.sql.types as T
from hypothesis import HealthCheck, given, settings
from pandera.errors import SchemaErrorReason
from pyspark.sql import DataFrame

from backfill_platform.validator.contract import read_contract
from backfill_platform.validator.measure import measure_staged
from backfill_platform.validator.measure_plan import MeasurePlan

DAY = date(2025, 1, 1)
TEXTS = st.text(alphabet="abAB1 é|", max_size=3)
PATTERNS = st.sampled_from(["^a", "a|b", "b$", "[0-9]+", "(?i)A", "^(?:a|b)$", ".", "é"])
WHOLE = st.integers(-3, 3)
CENTS = st.decimals(-3, 3, places=2, allow_nan=False)
FLOATS = st.sampled_from([-1.5, -0.0, 0.0, 0.1, 2.0, float("inf")])
DATES = st.dates(date(2024, 12, 30), date(2025, 1, 2))
INSTANTS = st.datetimes(datetime(2024, 12, 31), datetime(2025, 1, 1, 1))  # noqa: DTZ001

TYPES: dict[str, tuple[Any, str, st.SearchStrategy[Any], st.SearchStrategy[Any]]] = {
    # by column: its type for pandera and for Spark, values of rows, and values of checks
    "word": (T.StringType, "string", TEXTS, TEXTS),
    "small": (T.IntegerType, "int", WHOLE, WHOLE),
    "large": (T.LongType, "long", WHOLE | st.just(2**62), WHOLE | st.just(2.5)),
    "price": (T.DecimalType(12, 2), "decimal(12,2)", CENTS, CENTS | st.just(Decimal("0.005"))),
    "share": (T.DoubleType, "double", FLOATS | st.just(float("nan")), FLOATS | WHOLE),
    "on_day": (T.DateType, "date", DATES, DATES),
    "at": (T.TimestampType, "timestamp", INSTANTS, INSTANTS | DATES),
    "is_open": (T.BooleanType, "boolean", st.booleans(), st.booleans()),
}
NAMED = ("word", "small", "large", "price", "share", "on_day", "at")
SCHEMA = ", ".join(("day date", *(f"{name} {sql}" for name, (_, sql, _, _) in TYPES.items())))


def rows() -> st.SearchStrategy[list[tuple[Any, ...]]]:
    values = [st.none() | drawn for _, _, drawn, _ in TYPES.values()]
    return st.lists(st.tuples(st.just(DAY), *values), max_size=5)


def arguments(name: str, *, has_rows: bool) -> st.SearchStrategy[dict[str, Any]]:
    """Of some checks that pandera has for the column's type, and whether it may be null."""
    value = TYPES[name][3]
    checks: dict[str, st.SearchStrategy[Any]] = {
        "nullable": st.booleans(),
        "eq": value,
        "ne": value,
    }
    if name in NAMED:
        checks |= {"isin": st.lists(value, max_size=3), "notin": st.lists(value, max_size=2)}
        if has_rows:  # of no rows pandera says that values are missing; there is no day to judge
            checks["unique_values_eq"] = st.lists(st.none() | value, max_size=3)
    if name == "word":
        length = st.tuples(st.integers(0, 1), st.integers(1, 3)) | st.tuples(st.integers(0, 2))
        checks |= {"str_matches": PATTERNS, "str_contains": PATTERNS, "str_length": length}
        checks |= {"str_startswith": TEXTS, "str_endswith": TEXTS}
    elif name in NAMED:
        checks |= dict.fromkeys(("gt", "ge", "lt", "le"), value)
        checks["in_range"] = ranges(INSTANTS if name == "at" else value)
    return st.fixed_dictionaries({}, optional=checks)


def ranges(value: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """From, to, and whether each of them belongs to it; pandera refuses one that holds nothing."""
    ends = st.lists(value, min_size=2, max_size=2, unique=True).map(sorted)
    return st.tuples(ends, st.booleans(), st.booleans()).map(lambda one: (*one[0], *one[1:]))


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[tuple[Any, ...]], type[Any]]:
    drawn = draw(rows())
    fields: dict[str, Any] = {"__annotations__": {"day": T.DateType}, "day": pa.Field()}
    for name, (declared, _, _, _) in TYPES.items():
        fields["__annotations__"][name] = declared
        fields[name] = pa.Field(**draw(arguments(name, has_rows=bool(drawn))))
    unique = draw(st.lists(st.sampled_from(NAMED), max_size=2, unique=True))
    fields["Config"] = type("Config", (), {"unique": unique})
    return drawn, type("Generated", (pa.DataFrameModel,), fields)


@settings(
    max_examples=6,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(case=cases())
def test_both_engines_find_the_same_rules_broken(spark, case):
    drawn, model = case
    frame = spark.createDataFrame(drawn, SCHEMA).coalesce(1)
    assert broken_by_measure(frame, model) == broken_by_pandera(frame, model)


def broken_by_measure(frame: DataFrame, model: type[Any]) -> set[str]:
    contract = read_contract(model)
    plan = MeasurePlan(
        table="silver.generated", contract=contract, partition_column="day", keys=("day", "word")
    )
    broken: set[str] = set()
    for found in measure_staged(frame, plan):
        broken |= {f"{name} null" for name, count in found.null_counts.items() if count}
        broken |= {name.partition(" (")[0] for name, count in found.check_failures.items() if count}
    return {name.partition("(")[0] for name in broken}


def broken_by_pandera(frame: DataFrame, model: type[Any]) -> set[str]:
    """As a user would ask it; its errors name the text of a check, and not the check."""
    schema = model.to_schema()
    named = {
        (name, str(check.error)): f"{name}_{check.name}"
        for name, column in schema.columns.items()
        for check in column.checks
    }
    errors = model.validate(frame).pandera.errors
    return {
        _name(reason, error, named)
        for category in errors.values()
        for reason, found in category.items()
        for error in found
    }


def _name(reason: str, error: dict[str, str], named: dict[tuple[str, str], str]) -> str:
    match SchemaErrorReason[reason]:
        case SchemaErrorReason.SERIES_CONTAINS_NULLS:
            return f"{error['column']} null"
        case SchemaErrorReason.DUPLICATES:
            return "unique"
        case _:
            return named[error["column"], error["check"]]
