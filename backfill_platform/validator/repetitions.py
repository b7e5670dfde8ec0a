"""Counts rows that repeat the values of another row of their day.

First by a hash, which cannot miss one. Two different values may share a hash, though rarely, so
what is found is counted once more by the values themselves, and nothing is failed for a hash.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from backfill_platform.validator.hashing import row_hash
from backfill_platform.validator.measure_plan import MeasurePlan
from backfill_platform.validator.row_flags import CHECKS

KEYS = "duplicate_keys"

# How many rows of a day repeat another one, by what is counted.
Repetitions = Mapping[str, Mapping[date, int]]

_DAY, _HASH, _TIMES = "day", "hash__", "times__"


def told_apart_by(plan: MeasurePlan) -> dict[str, tuple[str, ...]]:
    """What is counted, and the columns that together should tell rows apart."""
    uniques = plan.contract.uniques
    return {KEYS: plan.keys, **{CHECKS + one.name: one.columns for one in uniques}}


def repeated_hashes(
    rows: DataFrame, partition_column: str, columns: Sequence[str], name: str
) -> DataFrame:
    """By day; apart from all other figures, which Spark would carry through this shuffle."""
    keyed = rows.select(F.col(partition_column).alias(_DAY), row_hash(columns).alias(_HASH))
    times = keyed.groupBy(_DAY, _HASH).agg(F.count(F.lit(1)).alias(_TIMES))
    return times.groupBy(_DAY).agg(_repeated().alias(name))


def repeated_values(
    rows: DataFrame, partition_column: str, columns: Sequence[str], days: Iterable[date]
) -> dict[date, int]:
    """An action of its own."""
    wanted = rows.where(F.col(partition_column).isin(list(days)))
    keys = [F.col(name).alias(f"key__{number}") for number, name in enumerate(columns)]
    keyed = wanted.select(F.col(partition_column).alias(_DAY), *keys)
    times = keyed.groupBy(*keyed.columns).agg(F.count(F.lit(1)).alias(_TIMES))
    found = times.groupBy(_DAY).agg(_repeated().alias("repeated")).collect()
    return {row[_DAY]: row["repeated"] for row in found}


def _repeated() -> Column:
    return F.sum(F.col(_TIMES) - 1)
