"""Reads the policy's section `repairs`: what may be repaired while nobody looks, and how much.

Where the section is missing nothing is repaired unattended. It lets runs be planned, and no more:
who has to agree to them is said by the rules, as for every other run. Whether a table that is named
exists is not known here.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StrictInt, model_validator

from backfill_platform.domain.canonical import GREATEST_SAFE_INTEGER
from backfill_platform.domain.gaps import GapKind
from backfill_platform.domain.limits import DailyWindow
from backfill_platform.domain.repairs import RepairRules
from backfill_platform.governance.strict_parts import WindowPart

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._@+-]*$")]
Pattern = Annotated[str, Field(pattern=r"^[a-z0-9_*?.]+$")]

# Small enough that no wait which follows from them leads out of the calendar.
Days = Annotated[StrictInt, Field(ge=1, le=366)]
Attempts = Annotated[StrictInt, Field(ge=1, le=10)]
Minutes = Annotated[StrictInt, Field(ge=1, le=1_440)]
Runs = Annotated[StrictInt, Field(ge=1, le=1_000)]
Patience = Annotated[StrictInt, Field(ge=0, le=1_440)]
Hours = Annotated[StrictInt, Field(ge=0, le=168)]
Rows = Annotated[StrictInt, Field(ge=1, le=GREATEST_SAFE_INTEGER)]
Money = Annotated[Decimal, Field(gt=0)]

_COMPUTABLE = frozenset(GapKind) - {GapKind.INPUT_MISSING}


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RepairsPart(_Part):
    requested_by: Name
    tables: tuple[Pattern, ...] = Field(min_length=1)
    kinds: tuple[GapKind, ...] = Field(min_length=1)
    max_days_per_run: Days
    attempts: Attempts
    back_off_minutes: Minutes
    runs_per_hour: Runs
    rows_per_day: Rows | None = None
    cost_usd_per_day: Money | None = None
    quiet_hours: WindowPart | None = None
    patience_minutes: Patience = 0
    settle_hours: Hours = 0

    @model_validator(mode="after")
    def _can_be_done(self) -> Self:
        if not _COMPUTABLE.issuperset(self.kinds):
            raise ValueError(
                f"names {GapKind.INPUT_MISSING} among the kinds, where there is nothing to compute "
                "from; leave it out"
            )
        if self.rows_per_day is None and self.cost_usd_per_day is None:
            raise ValueError("says no budget; say rows_per_day, or cost_usd_per_day, or both")
        return self


def build_repairs(
    part: RepairsPart | None, plain: Callable[[Decimal], Decimal]
) -> RepairRules | None:
    """`plain` writes equal amounts alike, because they stand under the policy's digest."""
    if part is None:
        return None
    quiet, cost = part.quiet_hours, part.cost_usd_per_day
    return RepairRules(
        requested_by=part.requested_by,
        tables=part.tables,
        kinds=tuple(kind for kind in GapKind if kind in part.kinds),
        max_days_per_run=part.max_days_per_run,
        attempts=part.attempts,
        back_off_minutes=part.back_off_minutes,
        runs_per_hour=part.runs_per_hour,
        rows_per_day=part.rows_per_day,
        cost_usd_per_day=None if cost is None else plain(cost),
        quiet_hours=DailyWindow(start=quiet.start, end=quiet.end) if quiet else None,
        patience_minutes=part.patience_minutes,
        settle_hours=part.settle_hours,
    )
