"""What is known of an expression's value: whether an order of rows or a floating sum is in it.

A list that was collected from rows has an order that nobody fixed. Sorting or counting it mends
that; taking an element, or anything not named here, makes a value that depends on it. Types do not
stand in a plan's text: a number counts as floating when something in it says so.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

from backfill_platform.executor.plan_text import Attribute, Call, Expression


class Order(IntEnum):
    FIXED = 0
    OF_LIST = 1  # the same elements, in any order
    OF_VALUE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    order: Order = Order.FIXED
    is_floating: bool = False
    is_summed: bool = False  # its last digits depend on the order in which floats were added up
    origin: str = ""  # the expression to name


NOTHING_OPEN = Known()

KnownOf = Mapping[int, Known]
Aggregate = Callable[[Call], Known | None]


def _named(names: str) -> frozenset[str]:
    return frozenset(names.split())


_SORTING = _named(
    "sort_array array_max array_min size cardinality array_size array_contains exists forall "
    "arrays_overlap"
)
_KEEPING = _named(
    "transform filter array_distinct flatten concat reverse array_compact array_union array_except "
    "array_intersect array_remove coalesce if nvl ifnull explode explode_outer"
)
_COUNTING = frozenset({"count", "isnull", "isnotnull"})
_WHOLE = _COUNTING | _named(
    "floor ceil ceiling size hash xxhash64 length sha2 to_json concat_ws row_number rank "
    "dense_rank ntile in"
)
_FLOATING = _named(
    "avg mean try_avg sqrt cbrt exp expm1 ln log log10 log2 log1p pow power sin cos tan asin acos "
    "atan atan2 sinh cosh tanh degrees radians hypot pi e months_between percentile median "
    "percent_rank cume_dist double float"
)
_COMPARING = re.compile(r"(^|\s)(=|<=>|<|<=|>|>=|AND|OR|NOT|IN|LIKE|RLIKE|IS)(\s|$)")
# Words that leave a value as it is: nothing, a choice among several, a condition for rows.
_CHOOSING = re.compile(r"\s*(CASE|if|lambda|distinct|FILTER)\b|\s*$")
_CAST_TO = re.compile(r"\sas\s+(\w+)\S*$")
# The order that Spark takes where nobody gives one; any other may leave ties.
_USUAL_ORDER = re.compile(
    r"if \(\(isnull\(lambda left#\d+L?\) AND isnull\(lambda right#\d+L?\)\)\) 0 else "
    r"if \(isnull\(lambda left#\d+L?\)\) 1 else if \(isnull\(lambda right#\d+L?\)\) -1 else "
    r"if \(\(lambda left#\d+L? < lambda right#\d+L?\)\) -1 else "
    r"if \(\(lambda left#\d+L? > lambda right#\d+L?\)\) 1 else 0"
)
_ADDING = re.compile(r"\(lambda (\w+)#(\d+)L? \+ .*", re.DOTALL)


def blend(all_known: Iterable[Known]) -> Known:
    """The worst of each."""
    found = tuple(all_known)
    worst = max(found, key=lambda one: (one.order, one.is_summed), default=NOTHING_OPEN)
    return Known(
        order=worst.order,
        is_floating=any(one.is_floating for one in found),
        is_summed=any(one.is_summed for one in found),
        origin=worst.origin or next((one.origin for one in found if one.origin), ""),
    )


def know(expression: Expression, known: KnownOf, aggregate: Aggregate) -> Known:
    parts = [_know_part(part, known, aggregate) for part in expression.parts]
    found = blend(parts)
    cast = _CAST_TO.search(expression.text)
    if cast and parts:
        return replace(parts[0], is_floating=cast[1] in {"float", "double"})
    if any(isinstance(part, Call) and part.name == "[" for part in expression.parts):
        return _as_value(found)  # one element of a list
    if _CHOOSING.match(expression.words):
        return found
    if _COMPARING.search(expression.words):
        found = replace(found, is_floating=False)
    return _as_value(found)


def _know_part(part: Attribute | Call, known: KnownOf, aggregate: Aggregate) -> Known:
    if isinstance(part, Attribute):
        return known.get(part.id, NOTHING_OPEN)
    if part.id is not None and part.id in known:
        return known[part.id]
    found = aggregate(part)
    if found is not None:
        return found
    arguments = [know(one, known, aggregate) for one in part.arguments]
    return _know_call(part, arguments)


def _know_call(call: Call, arguments: list[Known]) -> Known:
    found = blend(arguments)
    if call.name in _FLOATING or call.name in _WHOLE:
        found = replace(found, is_floating=call.name in _FLOATING)
    if call.name in _COUNTING:
        return NOTHING_OPEN
    if call.name in {"", "cast", "try_cast", "lambdafunction"}:
        return found
    if call.name in _SORTING or _sorts(call) or _adds_up(call):
        return _of_elements(found)
    if call.name in _KEEPING and not _tells_places(call):
        return found
    return _as_value(found)


def _of_elements(found: Known) -> Known:
    return replace(found, order=Order.FIXED) if found.order is Order.OF_LIST else found


def _as_value(found: Known) -> Known:
    return replace(found, order=Order.OF_VALUE) if found.order else found


def _sorts(call: Call) -> bool:
    if call.name != "array_sort":
        return False
    given = [one for one in call.arguments if one.text.startswith("lambdafunction(")]
    return not given or bool(_USUAL_ORDER.match(given[0].text.removeprefix("lambdafunction(")))


def _adds_up(call: Call) -> bool:
    """A fold gives the same in any order if each step only adds something to what it has."""
    if call.name not in {"aggregate", "reduce"} or len(call.arguments) < 3:
        return False
    step = call.arguments[2].text.removeprefix("lambdafunction(")
    adds = _ADDING.match(step)
    return bool(adds) and step.count(f"lambda {adds[1]}#{adds[2]}") == 2


def _tells_places(call: Call) -> bool:
    """`transform` and `filter` may also tell the place of an element."""
    last = call.arguments[-1]
    functions = [part for part in last.parts if isinstance(part, Call)]
    is_function = bool(functions) and functions[0].name == "lambdafunction"
    return is_function and len(functions[0].arguments) > 3
