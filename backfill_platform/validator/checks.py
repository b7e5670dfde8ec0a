"""pandera's built-in checks as Spark expressions that are true for a row that passes.

They say what pandera's own engine says of the same rows, word for word (the property in
`test_measure_agrees`), also where that is not what one would expect. A null passes every check of
single rows: whether nulls are allowed is a rule of its own.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from backfill_platform.domain.contracts import ColumnCheck

UNIQUE_VALUES = "unique_values_eq"
MOST_UNIQUE_VALUES = 62  # each is a bit of a number

Compile = Callable[[Column, Mapping[str, Any]], Column]


def _in_range(column: Column, given: Mapping[str, Any]) -> Column:
    low = (
        column >= given["min_value"]
        if given.get("include_min", True)
        else column > given["min_value"]
    )
    high = (
        column <= given["max_value"]
        if given.get("include_max", True)
        else column < given["max_value"]
    )
    return low & high


def _str_length(column: Column, given: Mapping[str, Any]) -> Column:
    length = F.length(column)
    if given.get("exact_value") is not None:
        return length == given["exact_value"]
    passes = F.lit(True)
    if given.get("min_value") is not None:
        passes = passes & (length >= given["min_value"])
    if given.get("max_value") is not None:
        passes = passes & (length <= given["max_value"])
    return passes


# What of a row can be said by itself; that every value is there is counted over all rows.
_COMPILERS: Mapping[str, Compile] = {
    "equal_to": lambda column, given: column == given["value"],
    "not_equal_to": lambda column, given: column != given["value"],
    "greater_than": lambda column, given: column > given["min_value"],
    "greater_than_or_equal_to": lambda column, given: column >= given["min_value"],
    "less_than": lambda column, given: column < given["max_value"],
    "less_than_or_equal_to": lambda column, given: column <= given["max_value"],
    "in_range": _in_range,
    "isin": lambda column, given: column.isin(list(given["allowed_values"])),
    "notin": lambda column, given: ~column.isin(list(given["forbidden_values"])),
    "str_matches": lambda column, given: column.rlike(_anchored(given["pattern"])),
    "str_contains": lambda column, given: column.rlike(pattern_text(given["pattern"])),
    "str_startswith": lambda column, given: column.startswith(given["string"]),
    "str_endswith": lambda column, given: column.endswith(given["string"]),
    "str_length": _str_length,
    UNIQUE_VALUES: lambda column, given: _is_listed(column, given["values"]),
}
COMPILED = frozenset(_COMPILERS)


def failing_rows(check: ColumnCheck) -> Column:
    """An aggregate that counts the rows which fail this check, and the values that lack a row."""
    counted = F.count_if(is_failing(check))
    if check.check != UNIQUE_VALUES:
        return counted
    return counted + sum(_missing_values(_value(check), check.arguments["values"]), F.lit(0))


def is_failing(check: ColumnCheck) -> Column:
    return ~_COMPILERS[check.check](_value(check), check.arguments)


def pattern_text(pattern: object) -> str:
    return str(getattr(pattern, "pattern", pattern))


def _value(check: ColumnCheck) -> Column:
    return F.expr(check.value) if check.value else F.col(check.column)


def _anchored(pattern: object) -> str:
    """As pandera anchors it: of `a|b`, only `a` has to stand at the beginning."""
    text = pattern_text(pattern)
    return text if text.startswith("^") else f"^{text}"


def _is_listed(column: Column, values: Sequence[Any]) -> Column:
    """For once, a null is a value like any other."""
    listed = F.coalesce(column.isin(_not_null(values)), F.lit(False))
    return listed | column.isNull() if None in values else listed


def _missing_values(column: Column, values: Sequence[Any]) -> Iterator[Column]:
    if None in values:
        yield F.when(F.count_if(column.isNull()) == 0, 1).otherwise(0)
    wanted = _not_null(values)
    if wanted:
        bits = F.lit(0).cast("bigint")
        for number, value in enumerate(wanted):
            bits = F.when(column == value, F.lit(1 << number).cast("bigint")).otherwise(bits)
        yield F.lit(len(wanted)) - F.bit_count(F.bit_or(bits))


def _not_null(values: Sequence[Any]) -> list[Any]:
    return list(dict.fromkeys(value for value in values if value is not None))
