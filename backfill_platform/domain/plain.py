"""Turns the frozen values of this room into plain JSON documents and back, by their annotations.

`from_plain(type(value), to_plain(value)) == value`. Every field is written, so a digest over the
document covers every field; a document with a missing or unknown field is refused.
"""

import dataclasses
import types
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")


def to_plain(value: Any) -> Any:
    match value:
        case StrEnum():
            return value.value
        case None | bool() | int() | str():
            return value
        case datetime() | date():
            return value.isoformat()
        case Decimal():
            return str(value)
        case Mapping():
            items = cast(Mapping[Any, Any], value).items()
            return {str(to_plain(name)): to_plain(item) for name, item in items}
        case tuple():
            return [to_plain(item) for item in cast(tuple[Any, ...], value)]
        case _:
            return {
                field.name: to_plain(getattr(value, field.name))
                for field in dataclasses.fields(value)
            }


def from_plain(kind: type[T], document: Any) -> T:
    """Raises ValueError, TypeError or KeyError when the document is not one of this kind."""
    return cast(T, _read(kind, document))


def _read(kind: Any, document: Any) -> Any:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        wanted = next(option for option in get_args(kind) if option is not type(None))
        return None if document is None else _read(wanted, document)
    if origin is tuple:
        return tuple(_read(get_args(kind)[0], item) for item in document)
    if origin is not None and issubclass(origin, Mapping):
        of_name, of_item = get_args(kind)
        return {_read(of_name, name): _read(of_item, item) for name, item in document.items()}
    kind = getattr(kind, "__supertype__", kind)  # a NewType is text that has a name
    if dataclasses.is_dataclass(kind):
        return _read_fields(cast(type[Any], kind), document)
    return _read_word(kind, document)


def _read_fields(kind: type[Any], document: Mapping[str, Any]) -> Any:
    hints = _hints(kind)
    if hints.keys() != document.keys():
        differing = ", ".join(sorted(hints.keys() ^ document.keys()))
        raise ValueError(f"not a {kind.__name__} of this version: it differs in {differing}")
    return kind(**{name: _read(hint, document[name]) for name, hint in hints.items()})


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _read_word(kind: Any, document: Any) -> Any:
    if kind in (date, datetime):
        return kind.fromisoformat(document)
    if issubclass(kind, StrEnum | Decimal):
        return kind(document)
    if not isinstance(document, kind) or (isinstance(document, bool) and kind is not bool):
        raise TypeError(f"{document!r} is not {kind.__name__}")
    return document
