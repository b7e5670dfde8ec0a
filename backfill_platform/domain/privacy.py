"""What a table must not show: subjects who asked to be forgotten, and columns above its class.

Replay permission is not implied by historical availability: a source may still hold what policy no
longer allows to be processed. These values only hold the declaration.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from backfill_platform.domain.modes import Classification


class Mask(StrEnum):
    """What is left of a value that may not be shown."""

    NULL = "NULL"  # nothing
    SHA256 = "SHA256"  # a digest: equal values stay equal
    LAST_FOUR = "LAST_FOUR"  # the last four characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Privacy:
    subject_column: str | None = None  # whom a row is about
    deletions: str | None = None  # the declared list of subjects who are not to come back
    column_classes: Mapping[str, Classification] = field(default_factory=dict[str, Classification])
    masks: Mapping[str, Mask] = field(default_factory=dict[str, Mask])


NOTHING_PRIVATE = Privacy()


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedDeletions:
    """The list as it stood when a run was planned."""

    name: str
    digest: str
    subjects: int
