"""What a run would change: accepted against staged rows, by key, counted by a dimension.

One join over the changed partitions only. It reports; gates and people decide.
"""

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.changes import ChangeCount
from backfill_platform.validator.hashing import row_hash


def count_changes(
    accepted: DataFrame,
    staged: DataFrame,
    *,
    keys: Sequence[str],
    columns: Sequence[str],
    dimension: str,
) -> tuple[ChangeCount, ...]:
    old = _hashed(accepted, keys, columns, dimension, "old")
    new = _hashed(staged, keys, columns, dimension, "new")
    old_hash, new_hash = F.col("old_hash"), F.col("new_hash")
    counted = (
        old.join(new, on=list(keys), how="full")
        .groupBy(F.coalesce("new_dimension", "old_dimension").alias("value"))
        .agg(
            F.count_if(old_hash.isNull()).alias("added"),
            F.count_if(new_hash.isNull()).alias("removed"),
            F.count_if(old_hash != new_hash).alias("changed"),
            F.count_if(old_hash == new_hash).alias("unchanged"),
        )
        .orderBy("value")
    )
    return tuple(ChangeCount(**row.asDict()) for row in counted.collect())


def _hashed(
    rows: DataFrame, keys: Sequence[str], columns: Sequence[str], dimension: str, side: str
) -> DataFrame:
    return rows.select(
        *keys,
        F.col(dimension).cast("string").alias(f"{side}_dimension"),
        row_hash(sorted(columns)).alias(f"{side}_hash"),
    )
