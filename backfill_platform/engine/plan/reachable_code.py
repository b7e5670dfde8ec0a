"""Which definitions of its project a transform reaches: functions, classes and constants by name.

A module may hold functions that the transform has nothing to do with. Read from source, so nothing
is imported or run. A method is reached with its class; what is only found while running (`getattr`,
an object that somebody hands in without saying its class) is not.
"""

import ast
import functools
import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backfill_platform.engine.plan.code import source_path, unbound

_BLOCKS = (ast.If, ast.Try, ast.With)


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    name: str
    path: Path
    definitions: Mapping[str, tuple[ast.stmt, ...]]
    imports: Mapping[str, str]  # by local name what it stands for, with dots
    stars: tuple[str, ...]  # modules of which every name is imported

    def stands_for(self, node: ast.expr) -> str | None:
        """The full name behind `F.rand` or `datetime.now`; nothing for what is no such chain."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        return ".".join([self.imports.get(node.id, node.id), *reversed(parts)])


def reached_statements(function: Any) -> Iterator[tuple[Module, ast.stmt]]:
    """Each once, from the function's own definition to all that it names, and what they name."""
    waiting = [start for part in unbound(function) if callable(part) for start in _starts(part)]
    seen: set[int] = set()
    while waiting:
        module, statement = waiting.pop()
        if id(statement) in seen:
            continue
        seen.add(id(statement))
        yield module, statement
        for name in _named(module, statement):
            waiting.extend(_definitions(module, name))


def _starts(part: Any) -> Iterator[tuple[Module, ast.stmt]]:
    """A nested function or a lambda is reached by the statement that holds it."""
    code = getattr(inspect.unwrap(part), "__code__", None)
    owner = inspect.unwrap(part) if code else type(part)
    module = _read_module(owner.__module__)
    if module is None:
        return
    line = code.co_firstlineno if code else None
    for name, statements in module.definitions.items():
        for statement in statements:
            if name == owner.__qualname__ if line is None else _holds(statement, line):
                yield module, statement


def _holds(statement: ast.stmt, line: int) -> bool:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(one.lineno for one in decorators)])
    return first <= line <= (statement.end_lineno or first)


def _named(module: Module, statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            name = module.stands_for(node)
            if name:
                yield name


def _definitions(module: Module, name: str) -> Iterator[tuple[Module, ast.stmt]]:
    """In the module itself, or in that module of the project which the name leads to."""
    head = name.partition(".")[0]
    if head in module.definitions:
        yield from ((module, statement) for statement in module.definitions[head])
        return
    for star in module.stars:
        yield from _definitions_of(star, head, module.name)
    owner, _, own = name.rpartition(".")
    if owner:
        yield from _definitions_of(owner, own, module.name)


def _definitions_of(owner: str, own: str, asked_by: str) -> Iterator[tuple[Module, ast.stmt]]:
    """`package.module.Class.member` is found by `package.module` and `Class`."""
    if owner.partition(".")[0] != asked_by.partition(".")[0]:
        return
    module = _read_module(owner)
    if module is None:
        above, _, name = owner.rpartition(".")
        if above:
            yield from _definitions_of(above, name, asked_by)
    elif own in module.definitions:
        yield from ((module, statement) for statement in module.definitions[own])
    elif own in module.imports and module.imports[own] != f"{owner}.{own}":
        yield from _definitions(module, module.imports[own])


def _read_module(name: str) -> Module | None:
    path = source_path(name)
    return _parse(name, path, path.stat().st_mtime_ns) if path else None


@functools.lru_cache(maxsize=256)
def _parse(name: str, path: Path, changed_at: int) -> Module:
    tree = ast.parse(path.read_bytes())
    definitions: dict[str, tuple[ast.stmt, ...]] = {}
    for statement in _top_level(tree.body):
        for defined in _names_of(statement):
            definitions[defined] = (*definitions.get(defined, ()), statement)
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return Module(
        name=name,
        path=path,
        definitions=definitions,
        imports=dict(one for node in imported for one in _local_names(node)),
        stars=tuple(
            node.module
            for node in imported
            if isinstance(node, ast.ImportFrom) and node.module and node.names[0].name == "*"
        ),
    )


def _top_level(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, _BLOCKS):
            inner = [*statement.body, *getattr(statement, "orelse", ())]
            yield from _top_level(inner)
        else:
            yield statement


def _names_of(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            stored = (node for target in targets for node in ast.walk(target))
            yield from (node.id for node in stored if isinstance(node, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
            yield name
        case _:
            return


def _local_names(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            if node.module and not node.level:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"
        elif alias.asname:
            yield alias.asname, alias.name
        else:
            top = alias.name.partition(".")[0]
            yield top, top
