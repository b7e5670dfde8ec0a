"""What a table must not show: subjects who asked to be forgotten, and columns above its class.

Replay permission is not implied by historical availability: a source may still hold what policy no
longer allows to be processed. These values hold the declaration and what a run pins of it; who is
listed stands in `ListedSubjects` alone, which is never written anywhere.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from backfill_platform.domain.canonical import canonical_json
from backfill_platform.domain.modes import Classification


class Mask(StrEnum):
    """What is left of a value that may not be shown."""

    NULL = "NULL"  # nothing
    SHA256 = "SHA256"  # a digest: equal values stay equal
    LAST_FOUR = "LAST_FOUR"  # the last four characters, of a text that has more


@dataclass(frozen=True, slots=True, kw_only=True)
class Privacy:
    subject_column: str | None = None  # whom a row is about
    deletions: str | None = None  # the declared list of subjects who are not to come back
    column_classes: Mapping[str, Classification] = field(default_factory=dict[str, Classification])
    masks: Mapping[str, Mask] = field(default_factory=dict[str, Mask])

    def masks_in(self, table_class: Classification) -> dict[str, Mask]:
        """A mask holds where, and only where, the column's raw values are above the table."""
        return {
            column: mask
            for column, mask in sorted(self.masks.items())
            if self.column_classes[column].is_above(table_class)
        }


NOTHING_PRIVATE = Privacy()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionList:
    """Whom others want forgotten: a file, or a folder of files, below the landing root. It grows.

    CSV or Parquet, with a column of subjects and one with the day on which each was listed.
    """

    name: str
    path: str  # relative to the landing root
    owner: str
    description: str
    subject_column: str = "subject"
    day_column: str = "deleted_on"


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedDeletions:
    """The list as it stood when a run was planned."""

    name: str
    digest: str
    subjects: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSubjects:
    """A list as it is now. The subjects are not shown: what is logged would have to be forgotten
    too (test_a_list_does_not_show_whom_it_names)."""

    list_name: str
    subjects: frozenset[str] = field(repr=False)

    @property
    def pinned(self) -> PinnedDeletions:
        """The list's name belongs to the digest, so that one subject alone does not make it."""
        named = canonical_json([self.list_name, *sorted(self.subjects)])
        digest = hashlib.sha256(named.encode()).hexdigest()
        return PinnedDeletions(name=self.list_name, digest=digest, subjects=len(self.subjects))

    @property
    def appearances(self) -> frozenset[str]:
        """As rows may name them: themselves, or masked by SHA256 in this table or above it."""
        return self.subjects | {hashlib.sha256(one.encode()).hexdigest() for one in self.subjects}


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """What the rows of a run are not to show; whoever computes applies it, the gate looks again."""

    subject_column: str | None = None
    listed: ListedSubjects | None = None
    masks: Mapping[str, Mask] = field(default_factory=dict[str, Mask])

    @property
    def promises(self) -> tuple[str, ...]:
        """What is counted, by name: rows that break it."""
        named = [f"{column}{UNMASKED}" for column in sorted(self.masks)]
        return (LISTED_SUBJECTS, *named) if self.listed is not None else tuple(named)


LISTED_SUBJECTS = "listed_subjects"
UNMASKED = "_unmasked"
