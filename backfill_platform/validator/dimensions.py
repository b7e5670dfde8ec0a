"""Measures by the values of columns: which there are, and the text that names one value.

Each set of columns is an aggregation of its own over the columns that it needs: Spark's grouping
sets would repeat every row for every set.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from backfill_platform.domain.quality import Measure

DIMENSION = "dimension"


def dimension(columns: Sequence[str]) -> Column:
    """`US-CA / OPEN`; the same text on both sides of a reconciliation."""
    texts = [F.coalesce(F.col(name).cast("string"), F.lit("null")) for name in columns]
    return F.concat_ws(" / ", *texts)


def by_columns(measures: Iterable[Measure]) -> dict[tuple[str, ...], list[Measure]]:
    """Of those that have a dimension at all."""
    grouped: dict[tuple[str, ...], list[Measure]] = defaultdict(list)
    for measure in measures:
        if measure.by:
            grouped[measure.by].append(measure)
    return grouped
