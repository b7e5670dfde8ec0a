"""Keeps figures exact: integers, or decimals, and never what a float rounds.

A floating sum differs with the order of its summands, so it would differ from itself when a run is
repeated. It is refused where it is declared; nothing is cut off to make it fit.
"""

from collections.abc import Iterable
from decimal import Decimal

from pyspark.sql.types import DataType, DecimalType, IntegralType, NullType

from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.domain.measurements import Figure

_EXACT = (IntegralType, DecimalType, NullType)


def refuse_inexact(table: str, field: str, types: Iterable[tuple[str, DataType]]) -> None:
    for name, found in types:
        if not isinstance(found, _EXACT):
            raise DeclarationInvalid(
                subject=table,
                field=field,
                problem=(
                    f"measure {name!r} gives {found.simpleString()}, and figures are exact: make "
                    "it an integer, or a decimal that rounds each value before it is added, such "
                    "as `sum(cast(amount as decimal(38,2)))`"
                ),
            )


def exact(value: int | Decimal | None) -> Figure:
    """An aggregate over nothing but nulls adds nothing."""
    if isinstance(value, Decimal):
        is_whole = value == value.to_integral_value()
        return int(value) if is_whole else value
    return int(value or 0)
