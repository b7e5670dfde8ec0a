"""One text for equal values: the JSON Canonicalization Scheme of RFC 8785.

What is hashed or signed is written here, so that anybody can check it with any library of that
standard (test_canonical_text_is_that_of_the_standard). Numbers are whole and small enough for every
reader: a float or a larger number has texts that differ between writers, and is refused.
"""

import json
from collections.abc import Mapping
from typing import Any, cast

GREATEST_SAFE_INTEGER = 2**53 - 1


def canonical_json(value: Any) -> str:
    text = json.dumps(_sorted(value), separators=(",", ":"), ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError as wrong:  # half a character, as a terminal of another encoding gives
        broken = text[max(0, wrong.start - 20) : wrong.end + 20]
        raise ValueError(f"{broken!r} is no Unicode text; write it again in UTF-8") from wrong
    return text


def _sorted(value: Any) -> Any:
    match value:
        case None | bool() | str():
            return value
        case int() if abs(value) <= GREATEST_SAFE_INTEGER:
            return value
        case Mapping():
            items = cast(Mapping[Any, Any], value).items()
            ordered = sorted(items, key=lambda item: _place(item[0]))
            return {name: _sorted(item) for name, item in ordered}
        case list() | tuple():
            return [_sorted(item) for item in cast(list[Any], value)]
        case _:
            raise TypeError(f"{value!r} has no canonical text; write it as text")


def _place(name: Any) -> bytes:
    """The standard sorts by UTF-16 units, which differs from Python's order beyond U+FFFF."""
    if not isinstance(name, str):
        raise TypeError(f"the names in a canonical document must be text, not {name!r}")
    return name.encode("utf-16-be", "surrogatepass")
