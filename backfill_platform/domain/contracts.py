"""The shape of a table that consumers rely on: its columns and the checks on their values.

People declare it once, as a pandera model; `validator.contract` reads that model into these values,
so that the rules which compare and compile contracts need no Spark.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from backfill_platform.domain.canonical import canonical_json
from backfill_platform.domain.plain import to_plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column; `type` is Delta's own name for it (`string`, `long`, `decimal(12,2)`, …)."""

    name: str
    type: str
    is_nullable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnCheck:
    """One pandera check on the values of one column, as its name and arguments."""

    column: str
    check: str
    arguments: Mapping[str, Any]
    value: str | None = None  # SQL, where what is checked lies within another column

    @property
    def name(self) -> str:
        return f"{self.column}_{self.check}"


BY_PANDERA = " (by pandera itself)"


@dataclass(frozen=True, slots=True, kw_only=True)
class PanderaCheck:
    """A check that nobody but pandera can run; it holds of rows or it does not.

    It is asked of all rows of a chunk, and of each day only where it does not hold of them; or of
    each day at once, where what holds of all days together says nothing of one.
    """

    check: str
    holds: Callable[[Any], bool] = field(repr=False)  # of a Spark frame
    column: str | None = None  # nothing for one that is about whole rows
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    is_of_each_day: bool = False

    @property
    def name(self) -> str:
        return f"{'' if self.column is None else f'{self.column}_'}{self.check}{BY_PANDERA}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unique:
    """Columns whose values no two rows of a day share; nulls are equal to each other."""

    columns: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"unique({', '.join(self.columns)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    columns: tuple[Column, ...]
    checks: tuple[ColumnCheck, ...]
    uniques: tuple[Unique, ...] = ()
    by_pandera: tuple[PanderaCheck, ...] = ()

    @property
    def check_names(self) -> tuple[str, ...]:
        """Of everything whose failures are counted, nulls apart."""
        return tuple(one.name for one in (*self.checks, *self.uniques, *self.by_pandera))

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def digest(self) -> str:
        """Names what consumers may rely on: columns and checks."""
        checks = [
            [
                check.name,
                _as_texts(check.arguments),
                *([check.value] if check.value else []),
            ]
            for check in self.checks
        ]
        # Only where there are any: contracts without them keep the digest that manifests have.
        checks += [[unique.name] for unique in self.uniques]
        checks += [[own.name, _as_texts(own.arguments)] for own in self.by_pandera]
        document = {"columns": to_plain(self.columns), "checks": checks}
        return hashlib.sha256(canonical_json(document).encode()).hexdigest()

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)


def _as_texts(arguments: Mapping[str, Any]) -> list[str]:
    return sorted(f"{key}={value!r}" for key, value in arguments.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedContract:
    """Declared instead of a model: a shape that follows from that of another table."""

    of: Any  # the other table's pandera model
    derive: Callable[[Contract], Contract]


# Every published row leads back to its run through these columns. The platform owns and fills them.
LINEAGE_COLUMNS = (
    Column(name="produced_by_run_id", type="string", is_nullable=False),
    Column(name="transform_version", type="string", is_nullable=False),
    Column(name="input_snapshot", type="string", is_nullable=False),
    Column(name="processing_mode", type="string", is_nullable=False),
    Column(name="reference_data_version", type="string", is_nullable=True),
)
