"""Counts rows that repeat the values of another row of their day, in the files of staged days.

Arrow reads the few columns and holds a day or two at a time, which takes a seventh of what Spark's
shuffle of all keys does. It tells the same values apart as Spark. Where that is not sure, as of
floats, or where a day is too large to be held, nothing is said here and Spark counts
(`repetitions`).
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from backfill_platform.domain.determinism import FLOATING
from backfill_platform.domain.errors import EngineUnavailable
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.publications import DataFile
from backfill_platform.lakehouse.delta_tables import read_table_state
from backfill_platform.validator.measure_plan import MeasurePlan
from backfill_platform.validator.repetitions import Repetitions, told_apart_by

_MOST_ROWS = 3_000_000  # of a day


def repeated_in_files(
    staging: Path, days: DayRange, plan: MeasurePlan, *, most_rows: int = _MOST_ROWS
) -> Repetitions:
    """By what is counted and by day; nothing of what has to be asked of Spark."""
    state = read_table_state(staging, PartitionSet.of_range(days))
    if state is None or any(rows > most_rows for rows in state.row_counts.values()):
        return {}
    with ThreadPoolExecutor(os.cpu_count()) as readers:
        return {
            name: dict(readers.map(partial(_of_day, staging, columns), state.files.items()))
            for name, columns in _countable(plan)
        }


def _countable(plan: MeasurePlan) -> Iterator[tuple[str, Sequence[str]]]:
    """Without the day, which all rows of a day have in common."""
    for name, columns in told_apart_by(plan).items():
        own = [column for column in columns if column != plan.partition_column]
        types = [column and column.type for column in map(plan.contract.column, own)]
        if own and FLOATING.isdisjoint(types) and None not in types:
            yield name, own


def _of_day(
    staging: Path, columns: Sequence[str], held: tuple[date, Sequence[DataFile]]
) -> tuple[date, int]:
    day, files = held
    rows = pa.concat_tables(_read(staging / file.path, columns) for file in files)
    alike = rows.group_by(list(columns), use_threads=False).aggregate([])
    return day, rows.num_rows - alike.num_rows


def _read(file: Path, columns: Sequence[str]) -> pa.Table:
    try:
        return pq.ParquetFile(file, coerce_int96_timestamp_unit="us").read(
            columns=list(columns), use_threads=False
        )
    except (OSError, pa.ArrowInvalid) as error:
        raise EngineUnavailable(
            f"{file}: it could not be read: {error}; check the storage and try again"
        ) from error
