"""Reads YAML without its surprises, and remembers the line of everything in it.

Duplicate names are refused, where YAML lets the last one win. Words are words and numbers are
numbers: `no` is not false and 22:00 is not 1320, as they are in YAML 1.1. Decimals stay exact.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, cast

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from backfill_platform.domain.errors import DeclarationInvalid

_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_DECIMAL = re.compile(r"-?[0-9]+\.[0-9]+")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "~": None, "": None}
_TAGS = tuple(f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map"))


class _Refused(Exception):
    def __init__(self, node: Node, problem: str) -> None:
        super().__init__(problem)
        self.line = node.start_mark.line + 1


def read_yaml(text: str, *, origin: str) -> tuple[Any, Node | None]:
    """What the text says, and the tree in which `find_line` finds a place."""
    try:
        # The base loader gives no meaning to plain words; `_value` does.
        node = yaml.BaseLoader(text).get_single_node()
        return (None if node is None else _value(node, set())), node
    except yaml.MarkedYAMLError as wrong:
        line = wrong.problem_mark.line + 1 if wrong.problem_mark else 1
        raise _invalid(origin, line, wrong.problem or str(wrong)) from wrong
    except yaml.YAMLError as wrong:
        raise _invalid(origin, 1, str(wrong)) from wrong
    except _Refused as refused:
        raise _invalid(origin, refused.line, str(refused)) from refused


def find_line(node: Node | None, path: Sequence[str | int]) -> int:
    """The line of the place, or of the nearest one above it that is there."""
    line = 1 if node is None else node.start_mark.line + 1
    for step in path:
        found = _step(node, step)
        if found is None:
            break
        named, node = found
        line = named.start_mark.line + 1
    return line


def _step(node: Node | None, step: str | int) -> tuple[Node, Node] | None:
    match node:
        case MappingNode():
            return next((pair for pair in _pairs(node) if pair[0].value == step), None)
        case SequenceNode() if isinstance(step, int):
            item = cast(list[Node], node.value)[step]
            return item, item
        case _:
            return None


def _value(node: Node, seen: set[int]) -> Any:
    if id(node) in seen or node.tag not in _TAGS:
        raise _Refused(node, "aliases and tags are not used here; write it out")
    seen.add(id(node))
    match node:
        case MappingNode():
            return _mapping(node, seen)
        case SequenceNode():
            return [_value(item, seen) for item in cast(list[Node], node.value)]
        case ScalarNode(style=None):
            return _plain(cast(str, node.value))
        case _:
            return node.value


def _mapping(node: MappingNode, seen: set[int]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, item in _pairs(node):
        if not isinstance(name, ScalarNode):
            raise _Refused(name, "a name has to be a word")
        if name.value in found:
            raise _Refused(name, f"{name.value!r} stands here twice; keep one of them")
        found[cast(str, name.value)] = _value(item, seen)
    return found


def _pairs(node: MappingNode) -> list[tuple[Node, Node]]:
    return cast(list[tuple[Node, Node]], node.value)


def _plain(word: str) -> Any:
    if _WHOLE.fullmatch(word):
        return int(word)
    if _DECIMAL.fullmatch(word):
        return Decimal(word)
    return _WORDS.get(word, word)


def _invalid(origin: str, line: int, problem: str) -> DeclarationInvalid:
    return DeclarationInvalid(subject=f"{origin}, line {line}", field="text", problem=problem)
