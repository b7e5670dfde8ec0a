"""How one figure has moved against what is accepted, whether it may, and how that is said.

A bound of the table holds for each value of a measure's dimension. What a run expects holds for the
measure as a whole, for that is what people say; its values are then shown and not judged.
"""

from dataclasses import dataclass
from decimal import Decimal

from backfill_platform.domain.measurements import Figure
from backfill_platform.domain.quality import ChangeBound, ExpectedChange
from backfill_platform.domain.verdicts import JudgedFigure
from backfill_platform.validator.gates.wording import named, percent, said

_ONE_PLACE = Decimal("0.1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One figure of a unit, before and after, with what it may do."""

    bound: ChangeBound
    expectation: ExpectedChange | None  # of the run; it takes the bound's place
    unit: str
    value: str
    before: Figure
    after: Figure
    is_judged: bool  # shown only, where the run says how the whole will move

    @property
    def moved_percent(self) -> Decimal | None:
        """None where there is nothing to reckon a share of."""
        if self.before == 0:
            return None if self.after else Decimal(0)
        return Decimal(self.after - self.before) * 100 / abs(Decimal(self.before))

    @property
    def strays(self) -> bool:
        if not self.is_judged:
            return False
        expectation, moved = self.expectation, self.moved_percent
        if expectation is None:
            return self._is_remarkable
        if moved is None:
            return True
        nothing_there = self.before == 0 and self.after == 0
        return not (nothing_there or expectation.least_percent <= moved <= expectation.most_percent)

    @property
    def _is_remarkable(self) -> bool:
        moved, bound = self.moved_percent, self.bound
        if moved == 0 or abs(Decimal(self.after - self.before)) < bound.at_least:
            return False
        return moved is None or not -bound.fall_percent <= moved <= bound.rise_percent

    @property
    def figure(self) -> JudgedFigure:
        moved = self.moved_percent
        how_far = "" if moved is None else f" ({moved.quantize(_ONE_PLACE):+f} %)"
        return JudgedFigure(
            name=f"{self.bound.measure}{self.unit}",
            value=self.value,
            expected=said(self.before) + (f" ({self._range})" if self.is_judged else ""),
            found=said(self.after) + how_far,
            strays=self.strays,
        )

    @property
    def _range(self) -> str:
        if self.expectation is not None:
            least, most = self.expectation.least_percent, self.expectation.most_percent
        else:
            least, most = -self.bound.fall_percent, self.bound.rise_percent
        return f"{_signed(least)} to {_signed(most)}"

    @property
    def cause(self) -> str:
        moved = self.moved_percent
        by = "" if moved is None or moved == 0 else f" by {abs(moved).quantize(_ONE_PLACE):f} %"
        return (
            f"{named(self.bound.measure, self.value)} {self._verb}{by} "
            f"(from {said(self.before)} to {said(self.after)}{self.unit}); {self._usual}"
        )

    @property
    def _verb(self) -> str:
        if self.after == self.before:
            return "did not move"
        return "fell" if self.after < self.before else "rose"

    @property
    def _usual(self) -> str:
        if self.expectation is not None:
            return f"the run expects {self._range}"
        bound = self.bound
        usual = bound.fall_percent if self.after < self.before else bound.rise_percent
        return f"up to {percent(usual)} is usual"


def _signed(share: Decimal) -> str:
    return f"{share.normalize():+f} %"
