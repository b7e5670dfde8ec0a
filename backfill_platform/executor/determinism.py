"""Walks the plan that Spark made of a transform and names what may come out otherwise next time.

It follows three things from the inputs up: which columns tell rows apart (from the declared keys of
inputs), which values depend on an order of rows, and which on the order in which floating numbers
were added up. What cannot be proved is named; that it is harmless can only be declared.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from backfill_platform.domain.determinism import FLOATING, MOVING_FUNCTIONS, Cause, Sighting
from backfill_platform.executor.expression_facts import Known, Order, blend
from backfill_platform.executor.open_aggregates import Group, Window, over_group, over_window
from backfill_platform.executor.plan_facts import Key, PlanFacts, Rows
from backfill_platform.executor.plan_text import (
    Item,
    Node,
    brackets,
    read_attributes,
    read_expression,
    read_items,
    read_plan,
    split_list,
)
from backfill_platform.executor.plan_words import constants, equated, is_sorted_by, sorted_by

_MOVING = re.compile(rf"\b({'|'.join(MOVING_FUNCTIONS)})\(", re.IGNORECASE)
_HIDDEN = re.compile(r"\b_metadata#\d+")
_MOST_KEYS = 8  # of each node; more make the walk slow and prove nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedInput:
    """A frame that a transform is given; in the plan it has the alias under which it is kept."""

    keys: tuple[str, ...]  # that tell its rows apart; none where nothing promises so
    floating: frozenset[str]  # columns


def examine_plan(
    explained: str, inputs: Mapping[str, MarkedInput], types: Mapping[str, str]
) -> tuple[Sighting, ...]:
    """`types` are those of the columns that come out, by name."""
    walk = _Walk(inputs)
    walk.look_at_outputs(walk.rows_of(read_plan(explained)), types)
    return tuple(dict.fromkeys(walk.facts.sightings))


@dataclass(slots=True)
class _Walk:
    inputs: Mapping[str, MarkedInput]
    facts: PlanFacts = field(default_factory=PlanFacts)

    def rows_of(self, node: Node) -> Rows:
        """From the inputs up; a node's own rows are those of its last child, before which the plans
        of subqueries are printed."""
        below = [self.rows_of(child) for child in node.children]
        self._look_for_moving(node)
        return _READERS.get(node.name, _Walk.read_unknown)(self, node, below)

    def look_at_outputs(self, rows: Rows, types: Mapping[str, str]) -> None:
        for column in rows.outputs:
            known, where = self.facts.of(column.id), f"column {column.name!r}"
            if known.order:
                self.facts.see(Cause.ORDER, known.origin, where)
            if known.is_summed and types.get(column.name) not in FLOATING:
                self.facts.see(Cause.FLOATS, known.origin, where)

    def _look_for_moving(self, node: Node) -> None:
        for found in _MOVING.finditer(node.text):
            called = _called(node.text, found)
            if called:
                cause = MOVING_FUNCTIONS[found[1].lower()]
                self.facts.see(cause, called, _place_of(node, called))
        if node.name == "Project" and _HIDDEN.search(node.text):
            self.facts.see(Cause.PLACE, "_metadata", _place_of(node, "_metadata"))

    def read_unknown(self, node: Node, below: list[Rows]) -> Rows:
        """A leaf, or a node of which nothing is known but what lies below."""
        if below:
            return Rows(outputs=tuple(column for rows in below for column in rows.outputs))
        return Rows(outputs=read_attributes(node.text))

    def read_same(self, node: Node, below: list[Rows]) -> Rows:
        return below[-1]

    def read_alias(self, node: Node, below: list[Rows]) -> Rows:
        marked = self.inputs.get(node.text.removeprefix("SubqueryAlias ").strip())
        if marked is None:
            return below[-1]
        ids = {column.name: column.id for column in below[-1].outputs}
        for name in marked.floating & ids.keys():
            self.facts.known[ids[name]] = Known(is_floating=True, origin=name)
        if not marked.keys or not set(marked.keys) <= ids.keys():
            return replace(below[-1], keys=())
        return replace(below[-1], keys=(self._key(ids[name] for name in marked.keys),))

    def read_filter(self, node: Node, below: list[Rows]) -> Rows:
        """A column that has to be one certain value tells no rows apart any more."""
        condition = read_expression(node.text.removeprefix("Filter "))
        self.facts.refuse_open(condition, "a filter")
        constant = self._key(constants(condition))
        return replace(below[-1], keys=tuple(key - constant for key in below[-1].keys))

    def read_project(self, node: Node, below: list[Rows]) -> Rows:
        items = _items(node)
        outputs = [self.facts.add(one, self.facts.know(one.expression)) for one in items]
        return replace(below[-1], outputs=tuple(outputs))

    def read_aggregate(self, node: Node, below: list[Rows]) -> Rows:
        given = brackets(node)
        texts = split_list(given[0]) if len(given) > 1 else ()
        groups = [read_expression(text) for text in texts]
        for one in groups:
            self.facts.refuse_open(one, "what rows are grouped by")
        group = Group(rows=below[-1], by=self.facts.fixed_by_all(groups))
        outputs = [
            self.facts.add(one, self.facts.know(one.expression, over_group(self.facts, one, group)))
            for one in _items(node)
        ]
        return Rows(outputs=tuple(outputs), keys=self._keys_of_groups(texts, _items(node)))

    def _keys_of_groups(self, texts: tuple[str, ...], items: list[Item]) -> tuple[Key, ...]:
        """Where each expression that rows are grouped by is also a column."""
        by_text = {one.expression.text: one.id for one in items if one.expression}
        ids = [own for text in texts if (own := by_text.get(text)) is not None]
        return (self._key(ids),) if len(ids) == len(texts) else ()

    def read_window(self, node: Node, below: list[Rows]) -> Rows:
        given = brackets(node)
        specified = [one for text in given[1:] for one in split_list(text)]
        parts = [read_expression(one) for one in specified if not is_sorted_by(one)]
        order = [sorted_by(one) for one in specified if is_sorted_by(one)]
        for one in (*parts, *order):
            self.facts.refuse_open(one, "a window")
        fixed = self.facts.fixed_by_all((*parts, *order))
        window = Window(rows=below[-1], fixed=fixed, is_ordered=bool(order))
        items = _items(node, given[0])
        outputs = [self.facts.add(one, over_window(self.facts, one, window)) for one in items]
        by = [self.facts.fixed_by(one) for one in parts]
        numbered = tuple(
            frozenset({one.id or 0}).union(*by) for one in items if _numbers_rows(one) and all(by)
        )
        keys = (*numbered, *below[-1].keys)[:_MOST_KEYS]
        return Rows(outputs=(*below[-1].outputs, *outputs), keys=keys)

    def read_join(self, node: Node, below: list[Rows]) -> Rows:
        kind, _, condition = node.text.removeprefix("Join ").partition(", ")
        read = read_expression(condition) if condition else None
        if condition:
            self.facts.refuse_open(read, "a join")
        left, right = below[-2], below[-1]
        if kind in {"LeftSemi", "LeftAnti"}:
            return left
        met = self._key(one for pair in equated(read) for one in pair)
        keys = [one | other for one in left.keys for other in right.keys]
        if right.are_told_apart_by(met) and kind in {"Inner", "LeftOuter"}:
            keys = [*left.keys, *keys]  # each row of the left meets at most one
        if left.are_told_apart_by(met) and kind in {"Inner", "RightOuter"}:
            keys = [*right.keys, *keys]
        return Rows(outputs=(*left.outputs, *right.outputs), keys=tuple(keys[:_MOST_KEYS]))

    def read_union(self, node: Node, below: list[Rows]) -> Rows:
        """Its columns have the names of the first, and what is known of any of them."""
        for columns in zip(*(rows.outputs for rows in below), strict=False):
            self.facts.known[columns[0].id] = blend(self.facts.of(one.id) for one in columns)
        return Rows(outputs=below[0].outputs)

    def read_deduplicate(self, node: Node, below: list[Rows]) -> Rows:
        rows = below[-1]
        everything = self._key(column.id for column in rows.outputs)
        given = brackets(node)
        kept = self._key(one.id or 0 for one in _items(node)) if given else everything
        if not everything <= kept and not rows.are_told_apart_by(kept):
            self.facts.see(Cause.ORDER, node.text, "rows", "any of those that are alike may stay")
        return replace(rows, keys=(kept, *rows.keys)[:_MOST_KEYS])

    def read_limit(self, node: Node, below: list[Rows]) -> Rows:
        """What is sorted right before it stays sorted; of none it is all the same which come."""
        if node.text == "GlobalLimit 0":
            return below[-1]
        sorting = node.children[-1]
        while sorting.name in _KEEP_ORDER and sorting.children:
            sorting = sorting.children[-1]
        is_sorted = sorting.name == "Sort" and sorting.text.endswith("true")
        texts = split_list(brackets(sorting)[0]) if is_sorted else ()
        order = self.facts.fixed_by_all(sorted_by(one) for one in texts)
        if not below[-1].are_told_apart_by(order):
            self.facts.see(Cause.ORDER, node.text, "rows", "which of them come first is left open")
        return below[-1]

    def read_sample(self, node: Node, below: list[Rows]) -> Rows:
        why = "a seed is drawn from anew in every task"
        self.facts.see(Cause.CHANCE, node.text, "rows", why)
        return below[-1]

    def read_generate(self, node: Node, below: list[Rows]) -> Rows:
        """Rows of a list may come in any order; their places in it are another matter."""
        text, _, rest = node.text.removeprefix("Generate ").rpartition(", [")
        known = self.facts.know(read_expression(text.rpartition(", ")[0]))
        if known.order:
            is_place_lost = known.order is Order.OF_LIST and not text.startswith("pos")
            known = replace(known, order=Order.FIXED if is_place_lost else Order.OF_VALUE)
        made = read_attributes(rest)
        self.facts.known |= {one.id: known for one in made}
        return Rows(outputs=(*below[-1].outputs, *made))

    def read_expand(self, node: Node, below: list[Rows]) -> Rows:
        """For groupings of several kinds: nobody looks which of its columns is which."""
        own = {column.id for column in below[-1].outputs}
        worst = blend(self.facts.of(attribute) for attribute in own)
        outputs = read_attributes(brackets(node)[-1])
        self.facts.known |= {one.id: worst for one in outputs if one.id not in own}
        return Rows(outputs=outputs)

    def read_python(self, node: Node, below: list[Rows]) -> Rows:
        said = node.text.partition("(")[0]
        self.facts.see(Cause.ORDER, said, "rows", "Python is handed rows in no fixed order")
        given = brackets(node)
        return Rows(outputs=read_attributes(given[-1]) if given else ())

    def _key(self, attributes) -> Key:
        return frozenset(self.facts.root(one) for one in attributes)


_Reader = Callable[[_Walk, Node, list[Rows]], Rows]
_KEEP_ORDER = frozenset({"LocalLimit", "GlobalLimit", "Offset", "Project", "SubqueryAlias"})
_SAME = (
    "Sort Repartition RepartitionByExpression RebalancePartitions ResolvedHint UnresolvedHint "
    "LocalLimit CollectMetrics"
)
_PYTHON = (
    "MapInPandas MapInArrow FlatMapGroupsInPandas FlatMapGroupsInArrow FlatMapCoGroupsInPandas "
    "FlatMapCoGroupsInArrow"
)
_READERS: Mapping[str, _Reader] = {
    **dict.fromkeys(_SAME.split(), _Walk.read_same),
    **dict.fromkeys(_PYTHON.split(), _Walk.read_python),
    **dict.fromkeys(("Deduplicate", "Distinct"), _Walk.read_deduplicate),
    **dict.fromkeys(("GlobalLimit", "Offset", "Tail"), _Walk.read_limit),
    "SubqueryAlias": _Walk.read_alias,
    "Filter": _Walk.read_filter,
    "Project": _Walk.read_project,
    "Aggregate": _Walk.read_aggregate,
    "Window": _Walk.read_window,
    "Join": _Walk.read_join,
    "Union": _Walk.read_union,
    "Sample": _Walk.read_sample,
    "Generate": _Walk.read_generate,
    "Expand": _Walk.read_expand,
}


def _items(node: Node, text: str | None = None) -> list[Item]:
    given = brackets(node)
    read = read_items(text if text is not None else given[-1] if given else "")
    return [one for one in read if one.id is not None]


def _numbers_rows(item: Item) -> bool:
    return bool(item.expression) and item.expression.text.startswith("row_number(")


def _called(text: str, found: re.Match[str]) -> str:
    """The whole call; nothing where it is the name of a column."""
    depth = 0
    for place in range(found.end() - 1, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if depth == 0:
            is_name = text[place + 1 : place + 2] == "#"
            return "" if is_name else text[found.start() : place + 1]
    return found[1]


def _place_of(node: Node, said: str) -> str:
    """The column that it feeds, where the plan tells."""
    items = _items(node) if node.name in {"Project", "Aggregate"} else []
    named = (one.name for one in items if one.expression and said in one.expression.text)
    column = next(named, None)
    return f"a {node.name.lower()}" if column is None else f"column {column!r}"
