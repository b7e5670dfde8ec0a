"""One line about one step of the work, as a value: what happened, to which run, with what numbers.

A line holds names, counts and times. It never holds a value of a row, what an exception says of
one, a reason, or the name of a person; whoever may know those finds them in ledger and evidence.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from backfill_platform.domain.identity import RunId


class Level(StrEnum):
    """The mildest first."""

    INFO = "INFO"  # as it should be
    WARNING = "WARNING"  # refused or held: somebody may have to decide
    ERROR = "ERROR"  # it did not come to its end

    def is_below(self, other: "Level") -> bool:
        order = tuple(Level)
        return order.index(self) < order.index(other)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a step is about; nothing where it is about no run, or about all of its chunks."""

    run_id: RunId | None = None
    chunk_id: str | None = None
    source_range: str | None = None  # the days that are read of any input, warm-up included
    transform_version: str | None = None
    target: str | None = None
    processing_mode: str | None = None


NO_SUBJECT = Subject()

Figure = str | int | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalLine:
    event: str
    at: datetime
    level: Level
    subject: Subject
    figures: Mapping[str, Figure]


Journal = Callable[[JournalLine], None]
