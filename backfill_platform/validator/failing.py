"""Which rows a failing sample is to show, and the Delta table that keeps them. No Spark, no JVM.

The table lies beside the run and is never published. Its columns are the same for every table, so
that one screen and one dashboard can read them all.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pyarrow as pa
from deltalake import write_deltalake
from deltalake.exceptions import CommitFailedError

from backfill_platform.domain.contracts import Column, Contract
from backfill_platform.domain.errors import LostRace
from backfill_platform.domain.failing_rows import FailingRow
from backfill_platform.domain.measurements import PartitionMeasurement
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.verdicts import Gate, Verdict
from backfill_platform.lakehouse.delta_tables import (
    LIBRARY_ERRORS,
    create_staging_table,
    open_table,
    translated,
)
from backfill_platform.lakehouse.rows import read_rows

REPEATED_KEY = "repeated key"
NULLS_IN = "nulls in "
_DAY = "day"
_TEXTS = ("gate", "check", "key", "found")
_CONTRACT = Contract(
    columns=(
        Column(name=_DAY, type="date", is_nullable=False),
        *(Column(name=name, type="string", is_nullable=False) for name in _TEXTS),
    ),
    checks=(),
)
_ATTEMPTS = 5  # against other chunks of the run


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """Rows that are looked for, because a gate did not pass by them on these days."""

    gate: Gate
    check: str
    days: tuple[date, ...]


def what_to_look_for(
    verdicts: Iterable[Verdict], measured: Iterable[PartitionMeasurement]
) -> tuple[Sought, ...]:
    """In the order of the gates; nothing where every row is as it should be."""
    counted = {one.day: one for one in measured}
    days: dict[tuple[Gate, str], list[date]] = defaultdict(list)
    for verdict in verdicts:
        if not verdict.has_passed and verdict.day in counted:
            for check in _broken(verdict.gate, counted[verdict.day]):
                days[verdict.gate, check].append(verdict.day)
    order = list(Gate)
    return tuple(
        Sought(gate=gate, check=check, days=tuple(sorted(days[gate, check])))
        for gate, check in sorted(days, key=lambda one: (order.index(one[0]), one[1]))
    )


def _broken(gate: Gate, measured: PartitionMeasurement) -> list[str]:
    return [name for name, count in _counts(gate, measured).items() if count]


def _counts(gate: Gate, measured: PartitionMeasurement) -> Mapping[str, int]:
    match gate:
        case Gate.KEY_UNIQUE:
            return {REPEATED_KEY: measured.duplicate_keys}
        case Gate.VALUES_VALID:
            nulls = {NULLS_IN + name: count for name, count in measured.null_counts.items()}
            return nulls | dict(measured.check_failures)
        case Gate.RELATIONS_KEPT:
            return measured.orphans or {}
        case Gate.INSTANTS_BOUNDED:
            return measured.misplaced_instants or {}
        case Gate.REJECTS_BOUNDED:
            return measured.rejected or {}
        case _:  # no single row is to blame
            return {}


def replace_failing(path: Path, days: DayRange, rows: Iterable[FailingRow]) -> None:
    """Those of these days, and no others; nothing is made where there is nothing to keep."""
    kept = _as_arrow(rows)
    if kept.num_rows == 0 and open_table(path) is None:
        return
    create_staging_table(path, _CONTRACT, partition_column=_DAY, extra_columns=())
    predicate = f"{_DAY} >= '{days.start}' AND {_DAY} < '{days.end_exclusive}'"
    for _ in range(_ATTEMPTS):
        try:
            write_deltalake(path, kept, mode="overwrite", predicate=predicate)
        except CommitFailedError:
            continue
        except LIBRARY_ERRORS as error:
            raise translated(error, path) from error
        return
    raise LostRace(f"{path}: other chunks of the run keep coming first; stage {days} again")


def read_failing_table(path: Path, days: PartitionSet) -> tuple[FailingRow, ...]:
    """By day and in the order of the gates; nothing where nothing was kept."""
    found = read_rows(path, columns=[_DAY, *_TEXTS], days=days)
    rows = [] if found is None else found.to_pylist()
    order = list(Gate)
    read = (
        FailingRow(
            day=row[_DAY],
            gate=Gate(row["gate"]),
            check=row["check"],
            key=json.loads(row["key"]),
            found=json.loads(row["found"]),
        )
        for row in sorted(rows, key=lambda row: tuple(str(value) for value in row.values()))
    )
    return tuple(sorted(read, key=lambda row: (row.day, order.index(row.gate), row.check)))


def _as_arrow(rows: Iterable[FailingRow]) -> pa.Table:
    rows = tuple(rows)
    return pa.table(
        {
            _DAY: pa.array([row.day for row in rows], pa.date32()),
            "gate": pa.array([row.gate.value for row in rows], pa.string()),
            "check": pa.array([row.check for row in rows], pa.string()),
            "key": pa.array([_text(row.key) for row in rows], pa.string()),
            "found": pa.array([_text(row.found) for row in rows], pa.string()),
        }
    )


def _text(values: Mapping[str, str | None]) -> str:
    return json.dumps(dict(values), ensure_ascii=False)
