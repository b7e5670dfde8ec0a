"""Reads the analyzed plan that Spark prints into a tree of nodes, and expressions into their parts.

The text is what a session in this process and one over Spark Connect have in common; only the
latter has no access to the plan itself. Texts of literals stand in it bare, so what cannot be read
becomes nothing, and whoever judges has to take that for the worst.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_START = re.compile(r"^(?P<depth>(?:[: ]  )*(?:[:+]- )?)(?P<name>[A-Za-z][A-Za-z0-9]*)")
_ATTRIBUTE = re.compile(r"(?P<name>(?:`[^`]*`|[^\s,()\[\]#`])+)#(?P<id>\d+)L?(?P<field>(?:\.\w+)*)")
_ID = re.compile(r"#(?P<id>\d+)L?")
_NAME = re.compile(r"(?:[A-Za-z_]\w*|<lambda>)(?=\()")
_ALIASED = re.compile(r"(?P<name>.*)#(?P<id>\d+)L?", re.DOTALL)
_CLOSING = {"(": ")", "[": "]"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    name: str
    text: str  # its own line, without the children
    children: tuple["Node", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    id: int
    name: str
    field: str = ""  # the path within it, such as `.opened.at`


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A function, or brackets: then its name is empty, or `[` for those of an index or a list."""

    name: str
    arguments: tuple["Expression", ...]
    id: int | None = None  # an attribute may be named like a call, and so is a Python function's


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """What stands between two commas: attributes and calls, and the words between them."""

    text: str
    parts: tuple[Attribute | Call, ...]
    words: str  # the text without the parts

    @property
    def calls(self) -> Iterator[Call]:
        for part in self.parts:
            if isinstance(part, Call):
                yield part
                for argument in part.arguments:
                    yield from argument.calls

    @property
    def attributes(self) -> Iterator[Attribute]:
        for part in self.parts:
            if isinstance(part, Attribute):
                yield part
            else:
                for argument in part.arguments:
                    yield from argument.attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One column of a projection: what it is, and the attribute that it becomes."""

    id: int | None
    name: str
    expression: Expression | None  # nothing where its text could not be read


def read_plan(explained: str) -> Node:
    """The analyzed plan out of what an extended `explain` prints, or that plan alone."""
    _, found, rest = explained.partition("== Analyzed Logical Plan ==\n")
    text = rest.partition("\n== Optimized Logical Plan ==")[0].partition("\n")[2] if found else rest
    lines = _whole_lines(text if found else explained)
    _, nodes = _build(lines, 0, 0)
    return nodes[0]


def brackets(node: Node) -> tuple[str, ...]:
    """What stands in the square brackets of a node's line, one text for each."""
    found: list[str] = []
    place = node.text.find("[")
    while place >= 0:
        end = _matching(node.text, place)
        if end is None:
            return tuple(found)
        found.append(node.text[place + 1 : end])
        place = node.text.find("[", end)
    return tuple(found)


def read_items(text: str) -> tuple[Item, ...]:
    return tuple(_read_item(part) for part in split_list(text))


def read_attributes(text: str) -> tuple[Attribute, ...]:
    """All that are named, as of a leaf: its kinds part them by commas with and without blanks."""
    return tuple(_attribute(found) for found in _ATTRIBUTE.finditer(text))


def read_expression(text: str) -> Expression | None:
    reader = _Reader(text)
    found = reader.read(closing="")
    return None if found is None or len(found) != 1 else found[0]


def split_list(text: str) -> tuple[str, ...]:
    """By the commas outside of all brackets; as a whole where brackets do not match."""
    parts, depth, start = list[str](), 0, 0
    for place, sign in enumerate(text):
        depth += (sign in "([") - (sign in ")]")
        if depth == 0 and text.startswith(", ", place):
            parts.append(text[start:place])
            start = place + 2
    return (*parts, text[start:])


def _whole_lines(text: str) -> list[tuple[int, str, str]]:
    """Depth, name and text of each node; a literal may hold line ends of its own."""
    lines: list[tuple[int, str, str]] = []
    for line in text.splitlines():
        start = _START.match(line)
        depth = len(start["depth"]) // 3 if start else 0
        if start and (not lines or 0 < depth <= lines[-1][0] + 2):
            lines.append((depth, start["name"], line[len(start["depth"]) :]))
        elif lines:
            depth, name, former = lines[-1]
            lines[-1] = (depth, name, f"{former}\n{line}")
    return lines


def _build(
    lines: list[tuple[int, str, str]], place: int, depth: int
) -> tuple[int, tuple[Node, ...]]:
    nodes: list[Node] = []
    while place < len(lines) and lines[place][0] >= depth:
        own, name, text = lines[place]
        place, children = _build(lines, place + 1, own + 1)
        nodes.append(Node(name=name, text=text, children=children))
    return place, tuple(nodes)


def _matching(text: str, opening: int) -> int | None:
    depth = 0
    for place in range(opening, len(text)):
        depth += (text[place] in "([") - (text[place] in ")]")
        if depth == 0:
            return place
    return None


def _read_item(text: str) -> Item:
    plain = _ATTRIBUTE.fullmatch(text)
    if plain and not plain["field"]:
        own = _attribute(plain)
        alone = Expression(text=text, parts=(own,), words="")
        return Item(id=own.id, name=own.name, expression=alone)
    expression, alias = _split_alias(text)
    named = _ALIASED.fullmatch(alias)
    if named is None:
        last = _ALIASED.fullmatch(text)
        own_id = int(last["id"]) if last else None
        return Item(id=own_id, name=text, expression=read_expression(text))
    return Item(id=int(named["id"]), name=named["name"], expression=read_expression(expression))


def _split_alias(text: str) -> tuple[str, str]:
    """By the first ` AS ` outside of all brackets; a name may hold another."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign in "([") - (sign in ")]")
        if depth == 0 and text.startswith(" AS ", place):
            return text[:place], text[place + 4 :]
    return text, ""


def _attribute(found: re.Match[str]) -> Attribute:
    return Attribute(id=int(found["id"]), name=found["name"], field=found["field"])


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0

    def read(self, closing: str) -> tuple[Expression, ...] | None:
        """Up to the closing bracket, which is taken as well; nothing where there is none."""
        found: list[Expression] = []
        while True:
            expression = self._one(closing)
            if expression is None:
                return None
            found.append(expression)
            if self._place >= len(self._text):
                return None if closing else tuple(found)
            sign = self._text[self._place]
            self._place += 1
            if sign == closing:
                return tuple(found)

    def _one(self, closing: str) -> Expression | None:
        start, parts, words = self._place, list[Attribute | Call](), list[str]()
        while self._place < len(self._text):
            sign = self._text[self._place]
            if sign == closing or (sign == "," and closing):
                break
            part = self._part()
            if part is None:
                return None
            if isinstance(part, str):
                words.append(part)
            else:
                parts.append(part)
        text = self._text[start : self._place].strip()
        return Expression(text=text, parts=tuple(parts), words="".join(words))

    def _part(self) -> Attribute | Call | str | None:
        text, place = self._text, self._place
        named = _NAME.match(text, place) if not _is_within_word(text, place) else None
        opening = named.end() if named else place
        if text[opening : opening + 1] in _CLOSING:
            return self._call(named[0].lower() if named else "", opening)
        attribute = None if _is_within_word(text, place) else _ATTRIBUTE.match(text, place)
        if attribute:
            self._place = attribute.end()
            return _attribute(attribute)
        self._place += 1
        return text[place]

    def _call(self, name: str, opening: int) -> Call | None:
        sign = self._text[opening]
        self._place = opening + 1
        arguments = self.read(_CLOSING[sign])
        if arguments is None:
            return None
        own = _ID.match(self._text, self._place)
        if own:
            self._place = own.end()
        is_index = sign == "[" and not name
        return Call(
            name="[" if is_index else name, arguments=arguments, id=int(own["id"]) if own else None
        )


def _is_within_word(text: str, place: int) -> bool:
    return place > 0 and (text[place - 1].isalnum() or text[place - 1] in "_`.")
