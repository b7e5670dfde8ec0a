"""Which changes a rule of the policy is about: every condition that is given has to hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase

from backfill_platform.domain.approvals import ProposedChange
from backfill_platform.domain.modes import RunKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Nothing in a field means no condition of that kind; bounds themselves are left out."""

    partitions_over: int | None = None  # days
    partitions_under: int | None = None
    is_full: bool | None = None
    tables: tuple[str, ...] = ()  # names or patterns with * and ?
    layers: tuple[str, ...] = ()
    kinds: tuple[RunKind, ...] = ()
    rows_over: int | None = None
    cost_over_usd: Decimal | None = None
    replaces_accepted: bool | None = None  # or only fills partitions that hold nothing

    def are_met_by(self, change: ProposedChange) -> bool:
        return all(
            (
                _is_over(change.partitions, self.partitions_over),
                self.partitions_under is None or change.partitions < self.partitions_under,
                self.is_full in (None, change.is_full),
                not self.tables or any(fnmatchcase(change.table, name) for name in self.tables),
                not self.layers or change.layer in self.layers,
                not self.kinds or change.kind in self.kinds,
                _is_over(change.rows_read, self.rows_over),
                _is_over(change.cost_usd, self.cost_over_usd),
                self.replaces_accepted in (None, change.replaces_accepted),
            )
        )

    def cover(self, other: "Conditions") -> bool:
        """Whether every change that meets the other ones certainly meets these."""
        return all(
            (
                _bounds_below(self.partitions_over, other.partitions_over),
                _bounds_above(self.partitions_under, other.partitions_under),
                self.is_full in (None, other.is_full),
                _names_cover(self.tables, other.tables),
                _choices_cover(self.layers, other.layers),
                _choices_cover(self.kinds, other.kinds),
                _bounds_below(self.rows_over, other.rows_over),
                _bounds_below(self.cost_over_usd, other.cost_over_usd),
                self.replaces_accepted in (None, other.replaces_accepted),
            )
        )

    @property
    def can_be_met(self) -> bool:
        over, under = self.partitions_over, self.partitions_under
        return over is None or under is None or under - over > 1


ANYTHING = Conditions()


def _is_over(value: int | Decimal, bound: int | Decimal | None) -> bool:
    return bound is None or value > bound


def _bounds_below(own: int | Decimal | None, other: int | Decimal | None) -> bool:
    return own is None or (other is not None and own <= other)


def _bounds_above(own: int | None, other: int | None) -> bool:
    return own is None or (other is not None and other <= own)


def _choices_cover(own: Sequence[str], other: Sequence[str]) -> bool:
    return not own or (bool(other) and set(other) <= set(own))


def _names_cover(own: Sequence[str], other: Sequence[str]) -> bool:
    """A pattern is only known to lie within an equal one: enough to find what was written twice."""
    return not own or (bool(other) and all(_is_named(name, own) for name in other))


def _is_named(name: str, patterns: Sequence[str]) -> bool:
    is_pattern = any(sign in name for sign in "*?[")
    return name in patterns or (
        not is_pattern and any(fnmatchcase(name, pattern) for pattern in patterns)
    )
