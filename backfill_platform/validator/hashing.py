"""The one hash of a row: over typed values, in a given order of columns."""

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F


def row_hash(columns: Sequence[str]) -> Column:
    # xxhash64 passes over nulls, so (null, 1) and (1, null) would collide without the null flags.
    return F.xxhash64(
        *(F.col(name) for name in columns), *(F.col(name).isNull() for name in columns)
    )
