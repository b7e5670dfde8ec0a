"""How staged rows differ from the accepted ones, counted."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeCount:
    """How many keys are new, gone, other or the same, for one value of a dimension."""

    value: str
    added: int
    removed: int
    changed: int
    unchanged: int
