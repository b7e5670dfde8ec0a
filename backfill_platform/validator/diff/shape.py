"""What of a table's rows is compared, measured and written. Reads declarations, and no data.

Every business column is compared. Columns that a mask protects are counted and never written, and
no figure is taken of them: the accepted side may be older than the mask.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from backfill_platform.domain.changes import DriftUnit
from backfill_platform.domain.contracts import Contract
from backfill_platform.domain.privacy import Mask, Protection

_WHOLE = frozenset({"boolean", "byte", "short", "integer", "long"})  # true counts as one
_FLOATING = frozenset({"float", "double"})
_DISTANCES = {"date": DriftUnit.DAYS, "timestamp": DriftUnit.SECONDS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A column whose values have differences."""

    name: str
    unit: DriftUnit
    sql_type: str  # in which a number is taken: the one that loses nothing
    decimal_places: int | None = None  # of a floating column that is declared to have no more

    @property
    def is_exact(self) -> bool:
        return self.sql_type != "double"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    partition_column: str
    keys: tuple[str, ...]
    columns: tuple[str, ...]  # the others
    measured: tuple[Measured, ...]
    masks: Mapping[str, Mask] = field(default_factory=dict[str, Mask])

    @property
    def written(self) -> tuple[str, ...]:
        return tuple(name for name in self.columns if name not in self.masks)


def shape_of(
    contract: Contract,
    *,
    partition_column: str,
    keys: Sequence[str],
    protection: Protection,
    decimal_places: Mapping[str, int],
) -> Shape:
    others = tuple(column for column in contract.columns if column.name not in keys)
    measured = (_measured(one.name, one.type, decimal_places.get(one.name)) for one in others)
    private = {*protection.masks, protection.subject_column}
    return Shape(
        partition_column=partition_column,
        keys=tuple(keys),
        columns=tuple(column.name for column in others),
        measured=tuple(one for one in measured if one and one.name not in private),
        masks=protection.masks,
    )


def _measured(name: str, declared: str, places: int | None) -> Measured | None:
    if declared in _DISTANCES:
        return Measured(name=name, unit=_DISTANCES[declared], sql_type=declared)
    if declared in _WHOLE:
        return Measured(name=name, unit=DriftUnit.NUMBER, sql_type="decimal(20,0)")
    if declared.startswith("decimal"):
        return Measured(name=name, unit=DriftUnit.NUMBER, sql_type=declared)
    if declared not in _FLOATING:
        return None
    rounded = "double" if places is None else f"decimal(38,{places})"
    return Measured(name=name, unit=DriftUnit.NUMBER, sql_type=rounded, decimal_places=places)
