"""What code a transform is: a digest over its module and all it imports from its own project.

Read from the source files, so nothing has to be imported or run. A digest that differs from the
manifest's means that something else is deployed than was planned.
"""

import ast
import hashlib
import importlib.util
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from backfill_platform.domain.function_names import qualified_name, unbound
from backfill_platform.domain.transforms import TransformFunction

WRAPPERS = "backfill_platform.corrections."


def code_digest(function: TransformFunction) -> str:
    """Two versions may share one function: what a `partial` binds belongs to the code."""
    names = " ".join(_name(part) for part in unbound(function))
    digest = hashlib.sha256(names.encode())
    for module, path in sorted(_project_files(function).items()):
        digest.update(f"\n{module} {hashlib.sha256(path.read_bytes()).hexdigest()}".encode())
    return digest.hexdigest()


def code_files(function: TransformFunction) -> tuple[Path, ...]:
    """The source files of the transform's own project, wherever a repository may know them."""
    project = _home(function).partition(".")[0]
    files = _project_files(function)
    return tuple(sorted(files[name] for name in files if name.partition(".")[0] == project))


def code_folder(function: TransformFunction) -> Path:
    """Where the transform's module lies."""
    path = source_path(_home(function))
    return path.parent if path else Path.cwd()


def _home(function: TransformFunction) -> str:
    """Where the platform puts something of its own around a transform, the transform's module."""
    modules = [part.__module__ for part in unbound(function) if callable(part)]
    users = (module for module in modules if not module.startswith(WRAPPERS))
    return next(users, modules[0])


def _name(part: Any) -> str:
    return qualified_name(part) if callable(part) else repr(part)


def _project_files(function: TransformFunction) -> dict[str, Path]:
    modules = {part.__module__ for part in unbound(function) if callable(part)}
    return {name: path for start in modules for name, path in _reachable(start).items()}


def _reachable(start: str) -> dict[str, Path]:
    """By module name: the module itself, and all it imports from its own project."""
    project = start.partition(".")[0]
    found: dict[str, Path] = {}
    waiting = [start]
    while waiting:
        module = waiting.pop()
        path = None if module in found else source_path(module)
        if path is None:
            continue
        found[module] = path
        named = _imports(path.read_bytes())
        waiting.extend(name for name in named if name.startswith(f"{project}."))
    return found


@lru_cache(maxsize=1024)  # by content: a run asks several times, and parsing is what it takes
def _imports(source: bytes) -> tuple[str, ...]:
    return tuple(_named_modules(source))


def _named_modules(source: bytes) -> Iterator[str]:
    """Every module that is named; `from package import module` may name one by its last part."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def source_path(module: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return None  # `from module import function`: the last part is no module
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None
