"""A digest over all by which a table's output is judged, so that a change of it is noticed.

Functions are named by their module and qualified name. What their code is, and the schema with its
checks, have digests of their own.
"""

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, timedelta
from decimal import Decimal
from pathlib import PurePath
from typing import Any, cast

from backfill_platform.domain.canonical import canonical_json
from backfill_platform.domain.function_names import qualified_name
from backfill_platform.domain.plain import to_plain
from backfill_platform.domain.tables import TableSpec


def quality_digest(spec: TableSpec) -> str:
    declared = {
        "quality": _describe(spec.quality),
        "reconciliation": _describe(spec.reconciliation),
        "keys": _describe(spec.keys),
        "may_be_empty": spec.may_be_empty,
        "gates": _describe(spec.gates),
    }
    return hashlib.sha256(canonical_json(declared).encode()).hexdigest()


def _describe(value: Any) -> Any:
    """As plain as canonical JSON asks, and the same in every process."""
    match value:
        case None | bool() | str() | date() | Decimal():
            return to_plain(value)
        case int() | float() | timedelta() | PurePath():
            return str(value)
        case Mapping():
            items = cast(Mapping[Any, Any], value).items()
            return {str(_describe(name)): _describe(item) for name, item in items}
        case list() | tuple():
            return [_describe(item) for item in cast(tuple[Any, ...], value)]
        case set() | frozenset():
            return sorted(str(_describe(item)) for item in cast(frozenset[Any], value))
        case functools.partial():
            return [_describe(part) for part in (value.func, value.args, value.keywords)]
        case _:
            return _describe_object(value)


def _describe_object(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _describe(getattr(value, field.name)) for field in fields(value)}
    # Of what a function has bound and nobody can look into, the kind: its text holds an address.
    return qualified_name(value if hasattr(value, "__qualname__") else type(value))
