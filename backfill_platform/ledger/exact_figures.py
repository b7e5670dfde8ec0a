"""Figures as the ledger keeps them: to the last digit, and what was not measured as nothing.

A whole number of any size stays a JSON number, and any other is text, because a JSON number with a
fraction would come back as a float. A measurement from before a kind of figure existed does not
name it, and is read as one for which it was not measured.
"""

import dataclasses
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, cast

from backfill_platform.domain.measurements import PartitionMeasurement

OWN_COLUMNS = ("day", "row_count", "checksum")  # of a measurement; the rest is `numbers`

_EXACT = ("measures", "by_dimension")  # where figures need not be counts


def write_numbers(found: PartitionMeasurement) -> dict[str, Any]:
    names = (field.name for field in dataclasses.fields(found) if field.name not in OWN_COLUMNS)
    return {name: _write(getattr(found, name)) for name in names}


def read_numbers(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """As arguments of a measurement."""
    exact = {name: _read(numbers[name]) for name in _EXACT if name in numbers}
    problems = numbers.get("shape_problems")
    told = None if problems is None else tuple(problems)
    return {**numbers, **exact, "shape_problems": told}


def _write(value: Any) -> Any:
    match value:
        case Decimal():
            return str(value)
        case Mapping():
            items = cast(Mapping[str, Any], value).items()
            return {name: _write(item) for name, item in items}
        case _:
            return value


def _read(value: Any) -> Any:
    match value:
        case str():
            return Decimal(value)
        case dict():
            items = cast(dict[str, Any], value).items()
            return {name: _read(item) for name, item in items}
        case _:
            return value
