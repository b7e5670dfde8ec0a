"""What the words of a plan say: which columns a condition equates, what a window is cut by.

Reads only; what follows from it is decided by those who ask.
"""

import re
from dataclasses import replace

from backfill_platform.executor.plan_text import Attribute, Call, Expression, Item, read_expression

_SORTED = re.compile(r" (ASC|DESC) NULLS (FIRST|LAST)$")
_EVERY_ROW = "unboundedpreceding$(), unboundedfollowing$()"


def equated(condition: Expression | None) -> tuple[tuple[int, int], ...]:
    """Attributes that a condition says are equal, if all of it has to hold."""
    return tuple(
        (parts[0].id, parts[1].id)
        for one in _demanded(condition)
        if len(parts := one.parts) == 2
        and isinstance(parts[0], Attribute)
        and isinstance(parts[1], Attribute)
        and one.words.strip() in {"=", "<=>"}
    )


def constants(condition: Expression | None) -> tuple[int, ...]:
    return tuple(
        one.parts[0].id
        for one in _demanded(condition)
        if len(one.parts) == 1
        and isinstance(one.parts[0], Attribute)
        and not one.parts[0].field
        and re.fullmatch(r"(=|<=>) [^ ]+", one.words.strip())
    )


def _demanded(condition: Expression | None) -> list[Expression]:
    if condition is None:
        return []
    parts, words = condition.parts, condition.words.strip()
    if len(parts) == 1 and isinstance(parts[0], Call) and not parts[0].name and not words:
        return _demanded(parts[0].arguments[0]) if len(parts[0].arguments) == 1 else []
    if words == "AND":
        both = [replace(condition, parts=(part,), words="") for part in parts]
        return [one for side in both for one in _demanded(side)]
    return [condition]


def is_plain(expression: Expression | None) -> bool:
    """Nothing but an attribute."""
    if expression is None or expression.words.strip() or len(expression.parts) != 1:
        return False
    part = expression.parts[0]
    return isinstance(part, Attribute) and not part.field


def is_repeated(item: Item) -> bool:
    """A column that only passes through."""
    alone = item.expression.parts[0] if item.expression and is_plain(item.expression) else None
    return alone is not None and isinstance(alone, Attribute) and alone.id == item.id


def said(call: Call) -> str:
    return f"{call.name}({', '.join(one.text for one in call.arguments)})"


def sorted_by(text: str) -> Expression | None:
    return read_expression(_SORTED.sub("", text))


def cuts_by_rows(text: str) -> bool:
    """Whether its frame begins or ends at a row, and not at a value."""
    frame = text.rpartition("specifiedwindowframe(RowFrame, ")[2]
    return "RowFrame" in text and not frame.startswith(_EVERY_ROW)


def is_sorted_by(text: str) -> bool:
    return bool(_SORTED.search(text))
