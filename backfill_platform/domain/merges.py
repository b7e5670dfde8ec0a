"""What a keyed merge did to the rows of a chunk, in numbers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeCounts:
    applied: int  # changes that stand in the merged partition
    deleted: int  # of those, the ones that say their key is deleted
    stale: int  # changes that were dropped: the base holds a higher version of their key
    repeated: int  # changes that the base held already, row for row
    untouched: int  # rows of the base that no change was about
