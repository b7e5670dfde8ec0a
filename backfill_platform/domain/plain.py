"""Turns the frozen values of this room into plain JSON documents and back, by their annotations.

`from_plain(type(value), to_plain(value)) == value`, and equal values give equal documents: an
instant is written in UTC, a number without trailing zeros. Every field is written, so a digest over
the document covers every field; a document with a missing or unknown field is refused.
"""

import dataclasses
import types
from collections.abc import Callable, Mapping
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
    return cast(T, _reader(kind)(document))


Read = Callable[[Any], Any]


@cache
def _reader(kind: Any) -> Read:
    """Made once for a kind: a run has thousands of verdicts, and each is read several times."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _optional(next(option for option in arguments if option is not type(None)))
    if origin is tuple:
        return _tuple_of(arguments[0])
    if origin is not None and issubclass(origin, Mapping):
        return _mapping_of(*arguments)
    kind = getattr(kind, "__supertype__", kind)  # a NewType is text that has a name
    return _fields_of(kind) if dataclasses.is_dataclass(kind) else _word(kind)


def _optional(wanted: Any) -> Read:
    read = _reader(wanted)
    return lambda document: None if document is None else read(document)


def _tuple_of(wanted: Any) -> Read:
    read = _reader(wanted)
    return lambda document: tuple([read(item) for item in _expect(list, document)])


def _mapping_of(of_name: Any, of_item: Any) -> Read:
    name, item = _reader(of_name), _reader(of_item)
    return lambda document: {
        name(key): item(value) for key, value in _expect(dict, document).items()
    }


def _fields_of(kind: Any) -> Read:
    hints = get_type_hints(kind)
    names = frozenset(field.name for field in dataclasses.fields(kind))
    read: dict[str, Read] = {}

    def fields(document: Any) -> Any:
        if _expect(dict, document).keys() != names:
            differing = ", ".join(sorted(names ^ document.keys()))
            raise ValueError(f"not a {kind.__name__} of this version: it differs in {differing}")
        if not read:  # not before a document comes: a kind may hold itself
            read.update({name: _reader(hints[name]) for name in names})
        return kind(**{name: read_one(document[name]) for name, read_one in read.items()})

    return fields


def _expect(kind: Any, document: Any) -> Any:
    """JSON's own types are never taken for each other: true is no 1, a text no list of letters."""
    if not isinstance(document, kind) or (isinstance(document, bool) and kind is not bool):
        raise TypeError(f"{document!r} is not {kind.__name__}")
    return document


def _word(kind: Any) -> Read:
    if kind is datetime:
        return lambda document: _aware(datetime.fromisoformat(document))
    if kind is date:
        return date.fromisoformat
    if kind is Decimal:
        return lambda document: _read_number(_expect(str, document))
    if issubclass(kind, StrEnum):
        return kind
    return lambda document: _expect(kind, document)


def _read_number(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation as wrong:
        raise ValueError(f"{text!r} is no number") from wrong
