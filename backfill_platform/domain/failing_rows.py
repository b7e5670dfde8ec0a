"""A row for which a gate did not pass, as far as people may see it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from backfill_platform.domain.verdicts import Gate

SHOWN_OF_EACH = 20  # rows of a day, by gate and check
NOT_SHOWN = "(not shown)"  # in the place of what a retention policy would have to find


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingRow:
    day: date
    gate: Gate
    check: str  # the check, the column, the relation or the reason, as the verdict names it
    key: Mapping[str, str | None]  # what tells the row apart within its day
    found: Mapping[str, str | None]  # the values that the gate judged
