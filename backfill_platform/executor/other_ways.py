"""Computes the same in another way: rows dealt out anew, and another number of partitions.

What depends on the order of rows, on files or on tasks comes out otherwise then.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from pyspark.sql import SparkSession

from backfill_platform.domain.transforms import Frames

_PARTITIONS = "spark.sql.shuffle.partitions"
# Small shuffles would end in a single partition all the same, and with it in one order.
_COALESCES = "spark.sql.adaptive.coalescePartitions.enabled"


def spread_inputs(frames: Frames, partitions: int) -> Frames:
    """The same rows, in another order than that of their files."""
    return replace(
        frames,
        inputs={name: rows.repartition(partitions) for name, rows in frames.inputs.items()},
        base=None if frames.base is None else frames.base.repartition(partitions),
    )


def shuffle_partitions(spark: SparkSession) -> int:
    return int(spark.conf.get(_PARTITIONS) or 1)


@contextmanager
def shuffled_into(spark: SparkSession, partitions: int | None) -> Iterator[None]:
    """For as long as this lasts; nothing changes where nothing is said."""
    if partitions is None:
        yield
        return
    changed = {_PARTITIONS: str(partitions), _COALESCES: "false"}
    before = {name: spark.conf.get(name) for name in changed}
    try:
        for name, value in changed.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value or "")
