"""Turns the frozen values of this room into plain JSON documents and back, by their annotations.

`from_plain(type(value), to_plain(value)) == value`, and equal values give equal documents: an
instant is written in UTC, a number without trailing zeros. Every field is written, so a digest over
the document covers every field; a document with a missing or unknown field is refused.
"""

import dataclasses
import types
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
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
        case datetime():
            return _aware(value).astimezone(UTC).isoformat()
        case date():
            return value.isoformat()
        case Decimal():
            return _number_text(value)
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


def _aware(instant: datetime) -> datetime:
    if instant.utcoffset() is None:
        raise ValueError(f"{instant} is no instant without a time zone; give it UTC")
    return instant


def _number_text(number: Decimal) -> str:
    if not number.is_finite():
        raise ValueError(f"{number} is no amount")
    text = f"{number:f}"
    shortest = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if number.is_zero() else shortest


def from_plain(kind: type[T], document: Any) -> T:
    """Raises ValueError, TypeError or KeyError when the document is not one of this kind."""
    return cast(T, _read(kind, document))


def _read(kind: Any, document: Any) -> Any:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        wanted = next(option for option in get_args(kind) if option is not type(None))
        return None if document is None else _read(wanted, document)
    if origin is tuple:
        return tuple(_read(get_args(kind)[0], item) for item in _expect(list, document))
    if origin is not None and issubclass(origin, Mapping):
        of_name, of_item = get_args(kind)
        items = _expect(dict, document).items()
        return {_read(of_name, name): _read(of_item, item) for name, item in items}
    kind = getattr(kind, "__supertype__", kind)  # a NewType is text that has a name
    if dataclasses.is_dataclass(kind):
        return _read_fields(cast(type[Any], kind), document)
    return _read_word(kind, document)


def _expect(kind: Any, document: Any) -> Any:
    """JSON's own types are never taken for each other: true is no 1, a text no list of letters."""
    if not isinstance(document, kind) or (isinstance(document, bool) and kind is not bool):
        raise TypeError(f"{document!r} is not {kind.__name__}")
    return document


def _read_fields(kind: type[Any], document: Any) -> Any:
    hints = _hints(kind)
    found: frozenset[str] = frozenset(_expect(dict, document))
    if hints.keys() != found:
        differing = ", ".join(sorted(hints.keys() ^ found))
        raise ValueError(f"not a {kind.__name__} of this version: it differs in {differing}")
    return kind(**{name: _read(hint, document[name]) for name, hint in hints.items()})


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _read_word(kind: Any, document: Any) -> Any:
    if kind is datetime:
        return _aware(datetime.fromisoformat(document))
    if kind is date:
        return date.fromisoformat(document)
    if kind is Decimal:
        return _read_number(_expect(str, document))
    if issubclass(kind, StrEnum):
        return kind(document)
    return _expect(kind, document)


def _read_number(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation as wrong:
        raise ValueError(f"{text!r} is no number") from wrong
