"""What a function is called: the same text in every process, also where arguments are bound to it.

A function's own text holds its address in memory, so it names nothing. What its code is, is told
by a digest over its files and not here.
"""

import functools
from collections.abc import Iterator
from typing import Any


def unbound(function: Any) -> Iterator[Any]:
    """The function itself, and then whatever is bound to it, functions among them."""
    if not isinstance(function, functools.partial):
        yield function
        return
    yield from unbound(function.func)
    for bound in (*function.args, *sorted(function.keywords.items())):
        yield from unbound(bound)


def qualified_name(function: Any) -> str:
    return f"{function.__module__}.{function.__qualname__}"
