"""How the columns that a run publishes differ from those that its target has now.

Harmless changes keep every old row readable and every consumer's query right. The others need the
requester's explicit consent, column by column, and stand in the manifest that owners approve.
"""

from dataclasses import dataclass
from enum import StrEnum


class SchemaChangeKind(StrEnum):
    ADDED = "ADDED"  # a nullable column; old rows show null
    WIDENED = "WIDENED"  # every old value fits the new type
    RELAXED = "RELAXED"  # may be null from now on
    REMOVED = "REMOVED"  # consumers lose a column
    NARROWED = "NARROWED"  # old values may not fit, so every old partition has to be replaced
    TIGHTENED = "TIGHTENED"  # may not be null any more, which old rows must not contradict

    @property
    def needs_consent(self) -> bool:
        return self not in (self.ADDED, self.WIDENED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaChange:
    kind: SchemaChangeKind
    column: str
    before: str | None  # Delta's name of the type; nothing where there was no column
    after: str | None
