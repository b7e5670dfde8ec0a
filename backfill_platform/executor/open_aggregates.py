"""Whether a function over many rows gives the same whatever order the rows come in.

It does if its rows are told apart by what they are grouped and ordered by, if what it picks is told
by that, or if it only collects, and somebody sorts what it has collected before it is used.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from backfill_platform.domain.determinism import Cause
from backfill_platform.executor.expression_facts import NOTHING_OPEN, Aggregate, Known, Order
from backfill_platform.executor.plan_facts import Key, PlanFacts, Rows
from backfill_platform.executor.plan_text import Call, Expression, Item
from backfill_platform.executor.plan_words import cuts_by_rows, is_plain, is_sorted_by, said
from backfill_platform.executor.plan_words import sorted_by as read_order

_FIRST = frozenset(["first", "last", "any_value", "first_value", "last_value"])
_COLLECTING = frozenset({"collect_list", "collect_set", "array_agg"})
_EXTREME = frozenset({"max_by", "min_by"})
_MERGING = frozenset(["mode", "percentile_approx", "approx_percentile", "histogram_numeric"])
_JOINING = frozenset({"listagg", "string_agg"})
_AVERAGES = frozenset({"avg", "mean", "try_avg"})
_ADDING = _AVERAGES | {"sum", "try_sum"}
_MOMENTS = re.compile(r"(stddev|var|covar|regr)\w*|corr|skewness|kurtosis|std")
_BY_PLACE = _FIRST | frozenset(["row_number", "lag", "lead", "ntile", "nth_value"])
_BY_RANK = frozenset(["rank", "dense_rank", "percent_rank", "cume_dist"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The rows that a function of an aggregation puts together."""

    rows: Rows
    by: Key

    @property
    def is_one_row(self) -> bool:
        return self.rows.are_told_apart_by(self.by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What the functions of a window see of its order."""

    rows: Rows
    fixed: Key  # by what it is parted and ordered
    is_ordered: bool

    @property
    def is_total(self) -> bool:
        return self.rows.are_told_apart_by(self.fixed)


def over_group(facts: PlanFacts, item: Item, group: Group) -> Aggregate:
    """What is known of the aggregates within one column; those that are left open are told."""
    where = f"column {item.name!r}"

    def judge(call: Call) -> Known | None:
        look = next((look for names, look in _LOOKS if call.name in names), None)
        if look is not None:
            return look(facts, call, group, where)
        return _summed(facts, call, said(call))

    return judge


def over_window(facts: PlanFacts, item: Item, window: Window) -> Known:
    expression = item.expression
    call = expression.parts[0] if expression and expression.parts else None
    if expression is None or not isinstance(call, Call):
        facts.see_in(item, Cause.ORDER, item.name, "its expression could not be read")
        return NOTHING_OPEN
    if not window.is_total and _is_open(call, expression, window):
        why = "rows may share the place that it orders them by"
        facts.see_in(item, Cause.ORDER, expression.text, why)
    below = facts.know_all(call.arguments)
    if call.name in _COLLECTING and not window.is_total:
        return replace(below, order=Order.OF_LIST, origin=expression.text)
    return _summed(facts, call, expression.text) or replace(below, origin=expression.text)


def _is_open(call: Call, expression: Expression, window: Window) -> bool:
    if call.name in _BY_RANK:
        return False
    if call.name in _COLLECTING:
        return window.is_ordered
    return call.name in _BY_PLACE | _EXTREME | _MERGING or cuts_by_rows(expression.text)


def _look_at_first(facts: PlanFacts, call: Call, group: Group, where: str) -> Known:
    given = call.arguments[0]
    is_fixed = is_plain(given) and facts.roots(given) <= group.by
    if not group.is_one_row and not is_fixed:
        facts.see(Cause.ORDER, said(call), where, "any row of its group may be the one")
    return facts.know(given)


def _look_at_collected(facts: PlanFacts, call: Call, group: Group, where: str) -> Known:
    found = facts.know(call.arguments[0])
    order = Order.FIXED if group.is_one_row else Order.OF_LIST
    return replace(found, order=max(order, found.order), origin=said(call))


def _look_at_extreme(facts: PlanFacts, call: Call, group: Group, where: str) -> None:
    value, order = call.arguments[0], call.arguments[1]
    fixed, read = group.by | facts.fixed_by(order), facts.roots(value)
    if not group.rows.are_told_apart_by(fixed) and not (read and read <= fixed):
        facts.see(Cause.ORDER, said(call), where, "rows may share the greatest or the least")


def _look_at_merged(facts: PlanFacts, call: Call, group: Group, where: str) -> None:
    if not group.is_one_row:
        facts.see(Cause.ORDER, said(call), where, "it depends on how parts are merged")


def _look_at_joined(facts: PlanFacts, call: Call, group: Group, where: str) -> None:
    ordered = [read_order(one.text) for one in call.arguments if is_sorted_by(one.text)]
    fixed = group.by | facts.fixed_by_all(ordered)
    if not group.rows.are_told_apart_by(fixed) and not facts.roots(call.arguments[0]) <= fixed:
        facts.see(Cause.ORDER, said(call), where, "it joins texts in no fixed order")


def _summed(facts: PlanFacts, call: Call, text: str) -> Known | None:
    is_moment = bool(_MOMENTS.fullmatch(call.name))
    if call.name not in _ADDING and not is_moment:
        return None
    below = facts.know_all(call.arguments)
    return Known(
        order=Order.OF_VALUE if below.order else Order.FIXED,
        is_floating=below.is_floating or is_moment or call.name in _AVERAGES,
        is_summed=below.is_floating or is_moment,
        origin=below.origin if below.order else text,
    )


_Look = Callable[[PlanFacts, Call, Group, str], Known | None]
_LOOKS: tuple[tuple[frozenset[str], _Look], ...] = (
    (_FIRST, _look_at_first),
    (_COLLECTING, _look_at_collected),
    (_EXTREME, _look_at_extreme),
    (_MERGING, _look_at_merged),
    (_JOINING, _look_at_joined),
)
