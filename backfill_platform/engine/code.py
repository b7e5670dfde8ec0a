"""What code a transform is: a digest over its module and all it imports from its own project.

Read from the source files, so nothing has to be imported or run. A digest that differs from the
manifest's means that something else is deployed than was planned.
"""

import ast
import functools
import hashlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path

from backfill_platform.domain.transforms import TransformFunction


def code_digest(function: TransformFunction) -> str:
    """Two versions may share one function: what a `partial` binds belongs to the code."""
    bound = ""
    while isinstance(function, functools.partial):
        bound += f"{function.args!r} {sorted(function.keywords.items())!r}"
        function = function.func
    sources = dict(sorted(_project_sources(function.__module__).items()))
    digest = hashlib.sha256(f"{function.__qualname__} {bound}".encode())
    for module, source in sources.items():
        digest.update(f"\n{module} {hashlib.sha256(source).hexdigest()}".encode())
    return digest.hexdigest()


def _project_sources(start: str) -> dict[str, bytes]:
    project = start.partition(".")[0]
    found: dict[str, bytes] = {}
    waiting = [start]
    while waiting:
        module = waiting.pop()
        path = None if module in found else _source_path(module)
        if path is None:
            continue
        found[module] = path.read_bytes()
        waiting.extend(name for name in _imports(found[module]) if name.startswith(f"{project}."))
    return found


def _imports(source: bytes) -> Iterator[str]:
    """Every module that is named; `from package import module` may name one by its last part."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _source_path(module: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return None  # `from module import function`: the last part is no module
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


def code_folder(function: TransformFunction) -> Path:
    """Where the transform's module lies."""
    while isinstance(function, functools.partial):
        function = function.func
    path = _source_path(function.__module__)
    return path.parent if path else Path.cwd()
