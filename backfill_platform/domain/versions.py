"""Semantic versions of transforms: three numbers, compared as numbers."""

import re

_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


def parse_version(text: str) -> tuple[int, int, int] | None:
    """The three numbers, or nothing when the text is not `major.minor.patch`."""
    match = _VERSION.fullmatch(text)
    if match is None:
        return None
    major, minor, patch = (int(part) for part in match.groups())
    return major, minor, patch
