"""What unattended repairs may take in a day, in rows and in money. Arithmetic only.

Invariant: the repairs of a day never take more than its budget, as their plans estimate it
(test_the_repairs_of_a_day_never_take_more_than_its_budget).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time
from decimal import Decimal

from backfill_platform.domain.partitions import ONE_DAY
from backfill_platform.domain.repairs import RepairRules
from backfill_platform.planner.repair_decisions import Postponed, Repair, Reported


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """By the plans of runs, of a day or of one."""

    rows: int = 0
    cost_usd: Decimal = Decimal(0)

    def __add__(self, other: "Taken") -> "Taken":
        return Taken(rows=self.rows + other.rows, cost_usd=self.cost_usd + other.cost_usd)


def keep_budget(
    repair: Repair, rules: RepairRules, *, today: Taken, asked: Taken, now: datetime
) -> Postponed | Reported | None:
    """Nothing where the repair fits into what is left of the day."""
    too_much = next(_exceeded(rules, asked), None)
    if too_much is not None:
        return Reported(gap=repair.gap, why=f"its repair {too_much}; plan fewer days by hand")
    for said in _exceeded(rules, today + asked):
        midnight = datetime.combine(now.date() + ONE_DAY, time(), tzinfo=now.tzinfo)
        return Postponed(gap=repair.gap, why=f"with it, all of today {said}", until=midnight)
    return None


def _exceeded(rules: RepairRules, taken: Taken) -> Iterator[str]:
    if rules.rows_per_day is not None and taken.rows > rules.rows_per_day:
        yield f"would read {taken.rows:,} rows, and {rules.rows_per_day:,} a day are allowed"
    if rules.cost_usd_per_day is not None and taken.cost_usd > rules.cost_usd_per_day:
        yield (
            f"would cost {taken.cost_usd:.2f} US dollars, and {rules.cost_usd_per_day:.2f} a day "
            "are allowed"
        )
