"""pandera's built-in checks as Spark expressions that are true for a row that passes.

Like pandera, a null passes every check: whether nulls are allowed is a rule of its own.
"""

from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from backfill_platform.domain.contracts import ColumnCheck

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
    passes = F.lit(True)
    if given.get("min_value") is not None:
        passes = passes & (length >= given["min_value"])
    if given.get("max_value") is not None:
        passes = passes & (length <= given["max_value"])
    return passes


COMPILERS: Mapping[str, Compile] = {
    "equal_to": lambda column, given: column == given["value"],
    "not_equal_to": lambda column, given: column != given["value"],
    "greater_than": lambda column, given: column > given["min_value"],
    "greater_than_or_equal_to": lambda column, given: column >= given["min_value"],
    "less_than": lambda column, given: column < given["max_value"],
    "less_than_or_equal_to": lambda column, given: column <= given["max_value"],
    "in_range": _in_range,
    "isin": lambda column, given: column.isin(*given["allowed_values"]),
    "notin": lambda column, given: ~column.isin(*given["forbidden_values"]),
    "str_matches": lambda column, given: column.rlike(_anchored(given["pattern"])),
    "str_contains": lambda column, given: column.rlike(given["pattern"]),
    "str_startswith": lambda column, given: column.startswith(given["string"]),
    "str_endswith": lambda column, given: column.endswith(given["string"]),
    "str_length": _str_length,
}


def failing_rows(check: ColumnCheck) -> Column:
    """An aggregate that counts the rows which fail this check."""
    return F.count_if(is_failing(check))


def is_failing(check: ColumnCheck) -> Column:
    value = F.expr(check.value) if check.value else F.col(check.column)
    return ~COMPILERS[check.check](value, check.arguments)


def _anchored(pattern: object) -> str:
    """`str_matches` holds at the beginning of the text, as `re.match` does."""
    text = str(getattr(pattern, "pattern", pattern))
    return text if text.startswith("^") else f"^(?:{text})"
