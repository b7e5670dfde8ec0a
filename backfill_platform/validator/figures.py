"""Keeps figures exact: integers, or decimals, and never what a float rounds.

A floating sum differs with the order of its summands, so it would differ from itself when a run is
repeated. It is refused where it is declared; nothing is cut off to make it fit.
"""

import re
from decimal import Decimal

import pyarrow as arrow

from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.domain.measurements import Figure

_ADDED = re.compile(r"\s*(?:count|count_if|sum)\s*\((?P<inner>.*)\)\s*", re.IGNORECASE | re.DOTALL)
_TEXT = re.compile(r"'[^']*'|\"[^\"]*\"")  # may hold a parenthesis
_DISTINCT = re.compile(r"\s*distinct\b", re.IGNORECASE)


def refuse_inexact(table: str, field: str, name: str, found: arrow.DataType) -> None:
    is_exact = (arrow.types.is_integer, arrow.types.is_decimal, arrow.types.is_null)
    if not any(holds(found) for holds in is_exact):
        raise DeclarationInvalid(
            subject=table,
            field=field,
            problem=(
                f"measure {name!r} gives {found}, and figures are exact: make "
                "it an integer, or a decimal that rounds each value before it is added, such "
                "as `sum(cast(amount as decimal(38,2)))`"
            ),
        )


def adds_up(expression: str) -> bool:
    """Whether the figure of some rows is the sum of the figures of any parts of them: a single
    `count`, `count_if` or `sum`. Whatever is not plainly so is not."""
    found = _ADDED.fullmatch(_TEXT.sub("''", expression))
    return bool(found) and not _DISTINCT.match(found["inner"]) and _is_closed(found["inner"])


def _is_closed(text: str) -> bool:
    """Whether no parenthesis of it closes what stands before it."""
    depth = 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
    return depth == 0


def exact(value: int | Decimal | None) -> Figure:
    """An aggregate over nothing but nulls adds nothing."""
    if isinstance(value, Decimal):
        is_whole = value == value.to_integral_value()
        return int(value) if is_whole else value
    return int(value or 0)
