"""Decides how a check of a pandera model is carried out: in one pass, by pandera itself, or not.

What the one pass can say exactly as pandera would is compiled (`checks`). What people wrote
themselves runs as pandera runs it. What pandera's Spark engine would silently leave out, or what
would only fail once there are rows, is refused when definitions load.
"""

import math
import re
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from pandera.api.function_dispatch import Dispatcher

from backfill_platform.domain.contracts import ColumnCheck, PanderaCheck
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.validator.checks import COMPILED, MOST_UNIQUE_VALUES, UNIQUE_VALUES

_WHOLE = frozenset({"byte", "short", "integer", "long"})
_NUMBER = _WHOLE | {"float", "double", "decimal"}
_ORDERED = _NUMBER | {"date", "timestamp"}
_LISTED = _ORDERED | {"string", "binary"}
_TEXT = frozenset({"string"})

# As pandera declares them; on any other type its engine raises once there is data.
_TYPES: Mapping[str, frozenset[str]] = {
    "equal_to": _LISTED | {"boolean"},
    "not_equal_to": _LISTED | {"boolean"},
    "greater_than": _ORDERED,
    "greater_than_or_equal_to": _ORDERED,
    "less_than": _ORDERED,
    "less_than_or_equal_to": _ORDERED,
    "in_range": _ORDERED,
    "isin": _LISTED,
    "notin": _LISTED,
    UNIQUE_VALUES: _LISTED,
    "str_matches": _TEXT,
    "str_contains": _TEXT,
    "str_startswith": _TEXT,
    "str_endswith": _TEXT,
    "str_length": _TEXT,
}
_VALUES = ("value", "min_value", "max_value")
_VALUE_LISTS = ("allowed_values", "forbidden_values", "values")
_LITERALS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "binary": (bytes, bytearray),
    "date": (date,),
    "timestamp": (date,),
}


def read_check(
    model: str, schema: Any, column: str, column_type: str, check: Any
) -> ColumnCheck | PanderaCheck:
    """Of one column."""
    _refuse_options(model, column, check)
    kind = _built_in(check)
    if kind is None or kind not in COMPILED:
        return _by_pandera(schema, check, column)
    family = column_type.partition("(")[0]
    if family not in _TYPES[kind]:
        raise _invalid(
            model, column, f"check {kind!r} is not for {column_type}, but for {_named(kind)}"
        )
    arguments = dict(check.statistics)
    _refuse_values(model, column, kind, family, arguments)
    if kind == UNIQUE_VALUES and not _are_told_apart_alike(family, list(arguments["values"])):
        return _by_pandera(schema, check, column)
    return ColumnCheck(column=column, check=kind, arguments=arguments)


def read_frame_check(model: str, schema: Any, check: Any) -> PanderaCheck:
    """Of whole rows."""
    _refuse_options(model, "Config", check)
    kind = _built_in(check)
    if kind is not None:
        raise _invalid(model, "Config", f"check {kind!r} is about one column; declare it there")
    return _by_pandera(schema, check, None)


def _built_in(check: Any) -> str | None:
    """By its function: people may give a check of their own any name."""
    function = check._check_fn
    return str(function) if isinstance(function, Dispatcher) else None


def _by_pandera(schema: Any, check: Any, column: str | None) -> PanderaCheck:
    """Whatever pandera's settings say: they could switch its validation off altogether."""

    def holds(rows: Any) -> bool:
        schema.register_default_backends(type(rows))  # a check alone does not know Spark's frames
        return bool(check(rows.pandera.add_schema(schema), column).check_passed)

    return PanderaCheck(
        check=check.name,
        column=column,
        arguments=dict(check.statistics),
        holds=holds,
        # Each day needs all of the values, and so do they when Spark counts them.
        is_of_each_day=_built_in(check) == UNIQUE_VALUES,
    )


def _refuse_options(model: str, field: str, check: Any) -> None:
    ignored = {
        "raise_warning": check.raise_warning,
        "ignore_na=False": not check.ignore_na,
        "element_wise": check.element_wise,
        "groupby": check.groupby is not None,
    }
    for option, is_given in ignored.items():
        if is_given:
            raise _invalid(
                model,
                field,
                f"check {check.name!r} has {option}, {_INSTEAD[option]}",
            )


_INSTEAD = {
    "raise_warning": "which would hide what fails; declare `Quality.severities` of the table",
    "ignore_na=False": "which pandera leaves out on Spark; declare the column `nullable=False`",
    "element_wise": "which pandera leaves out on Spark; write a check of the whole frame",
    "groupby": "which pandera leaves out on Spark; write a check of the whole frame",
}


def _refuse_values(
    model: str, column: str, kind: str, family: str, arguments: Mapping[str, Any]
) -> None:
    flags = getattr(arguments.get("pattern"), "flags", 0) & ~re.UNICODE
    if flags:
        raise _invalid(
            model,
            column,
            f"the pattern of {kind!r} has flags, which pandera leaves out; write `(?i)` and the "
            "like into the pattern",
        )
    if kind == "str_length":
        return
    for value in _values_of(kind, arguments):
        if not _fits(family, value):
            raise _invalid(
                model,
                column,
                f"check {kind!r} compares {family} with {value!r}; write a value of that type",
            )


def _values_of(kind: str, arguments: Mapping[str, Any]) -> list[Any]:
    single = [arguments[name] for name in _VALUES if name in arguments]
    listed = [value for name in _VALUE_LISTS for value in arguments.get(name, ())]
    # Elsewhere a null compares as unknown, so that every row would pass.
    return [value for value in (*single, *listed) if value is not None or kind != UNIQUE_VALUES]


def _fits(family: str, value: Any) -> bool:
    """A text that is no number would fail only once there are rows."""
    if family in _NUMBER:
        return isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    if family in {"date", "timestamp"} and isinstance(value, str):
        return _is_iso(value)
    return isinstance(value, _LITERALS[family])


def _is_iso(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _are_told_apart_alike(family: str, values: list[Any]) -> bool:
    """pandera collects the values and compares them in Python; here Spark says the same."""
    kept = [value for value in values if value is not None]
    return len(kept) <= MOST_UNIQUE_VALUES and all(_is_alike(family, value) for value in kept)


def _is_alike(family: str, value: Any) -> bool:
    match family:
        case "string":
            return isinstance(value, str)
        case "decimal":
            return isinstance(value, int | Decimal)
        case "float" | "double":
            return isinstance(value, int | float) and not math.isnan(value)
        case "date":
            return isinstance(value, date) and not isinstance(value, datetime)
        case "timestamp":
            return isinstance(value, datetime) and value.tzinfo is None
        case _:
            return family in _WHOLE and isinstance(value, int)


def _named(kind: str) -> str:
    return ", ".join(sorted(_TYPES[kind]))


def _invalid(model: str, field: str, problem: str) -> DeclarationInvalid:
    return DeclarationInvalid(subject=model, field=field, problem=problem)
