"""What a walk through a plan has learnt so far: of each column, and what it has to say about it.

A column may repeat another or hold others within it (a struct); then it tells their values too.
That is how an order by a struct of the key is seen to be an order by the key.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from backfill_platform.domain.determinism import Cause, Sighting
from backfill_platform.executor.expression_facts import (
    NOTHING_OPEN,
    Aggregate,
    Known,
    blend,
    know,
)
from backfill_platform.executor.plan_text import Attribute, Call, Expression, Item
from backfill_platform.executor.plan_words import is_plain, is_repeated

Key = frozenset[int]  # attributes that together tell rows apart

_IDS = re.compile(r"#\d+L?")
_MADE = re.compile(r"_we?\d+")  # a window within an expression, as Spark names it
_LONGEST = 120  # characters of an expression that a message repeats


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What a node of the plan gives."""

    outputs: tuple[Attribute, ...]
    keys: tuple[Key, ...] = ()  # each of them tells the rows apart

    def are_told_apart_by(self, columns: Key) -> bool:
        return any(key <= columns for key in self.keys)


def no_aggregate(call: Call) -> Known | None:
    """Outside of an aggregation no function puts rows together."""
    return None


@dataclass(slots=True)
class PlanFacts:
    sightings: list[Sighting] = field(default_factory=list[Sighting])
    known: dict[int, Known] = field(default_factory=dict[int, Known])
    _repeats: dict[int, int] = field(default_factory=dict[int, int])
    _holds: dict[int, Key] = field(default_factory=dict[int, Key])
    _unnamed: dict[int, list[int]] = field(default_factory=dict[int, list[int]])  # sightings

    def of(self, attribute: int) -> Known:
        return self.known.get(attribute, NOTHING_OPEN)

    def root(self, attribute: int) -> int:
        return self._repeats.get(attribute, attribute)

    def roots(self, expression: Expression | None) -> Key:
        """Of all that the expression reads."""
        return frozenset(self.root(one.id) for one in (expression.attributes if expression else ()))

    def fixed_by(self, expression: Expression | None) -> Key:
        """The attributes whose values the expression's value tells."""
        if expression is None or expression.words.strip() or len(expression.parts) != 1:
            return frozenset()
        match expression.parts[0]:
            case Attribute(id=own, field=""):
                return frozenset({self.root(own)}) | self._holds.get(own, frozenset())
            case Call(name="" | "struct" | "named_struct" | "array", arguments=arguments):
                return self.fixed_by_all(arguments)
            case Call(id=int(own)):
                return frozenset({self.root(own)})
            case _:
                return frozenset()

    def fixed_by_all(self, expressions: Iterable[Expression | None]) -> Key:
        return frozenset[int]().union(*(self.fixed_by(one) for one in expressions))

    def know(self, expression: Expression | None, aggregate: Aggregate = no_aggregate) -> Known:
        """What could not be read is taken for something that depends on an order, if anything in
        the plan so far does."""
        if expression is not None:
            return know(expression, self.known, aggregate)
        return replace(blend(self.known.values()), is_floating=False)

    def know_all(self, expressions: Iterable[Expression]) -> Known:
        return blend(self.know(one) for one in expressions)

    def add(self, item: Item, known: Known) -> Attribute:
        assert item.id is not None
        self._name(item)
        if not is_repeated(item):
            self.known[item.id] = known
            self._remember(item.id, item.expression)
        return Attribute(id=item.id, name=item.name)

    def _remember(self, attribute: int, expression: Expression | None) -> None:
        if expression and is_plain(expression) and isinstance(expression.parts[0], Attribute):
            self._repeats[attribute] = self.root(expression.parts[0].id)
        fixed = self.fixed_by(expression)
        if fixed:
            self._holds[attribute] = fixed

    def see_in(self, item: Item, cause: Cause, text: str, why: str) -> None:
        """About a column; of one that Spark has made, the column that it feeds is told."""
        self.see(cause, text, f"column {item.name!r}", why)
        if item.id is not None and _MADE.fullmatch(item.name):
            self._unnamed.setdefault(item.id, []).append(len(self.sightings) - 1)

    def _name(self, item: Item) -> None:
        if item.expression is None or _MADE.fullmatch(item.name):
            return
        for attribute in item.expression.attributes:
            for at in self._unnamed.pop(attribute.id, ()):
                self.sightings[at] = replace(self.sightings[at], where=f"column {item.name!r}")

    def see(self, cause: Cause, text: str, where: str, why: str = "") -> None:
        said = _IDS.sub("", text)
        short = said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"
        self.sightings.append(Sighting(cause=cause, expression=short, where=where, why=why))

    def refuse_open(self, expression: Expression | None, where: str) -> None:
        """For what decides which rows there are."""
        known = self.know(expression)
        if known.order:
            self.see(Cause.ORDER, known.origin, where)
        if known.is_summed:
            self.see(Cause.FLOATS, known.origin, where)
