"""Runs the checks that only pandera can run, and tells on which days they do not hold.

pandera says of a frame that a check holds or that it does not. It is asked of the whole chunk, and
of each day only where it says no, or where the whole chunk says nothing of a day. Whoever declares
no such check pays nothing for it.
"""

from collections.abc import Sequence
from datetime import date

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.contracts import PanderaCheck


def days_that_fail(
    rows: DataFrame, partition_column: str, check: PanderaCheck, days: Sequence[date]
) -> frozenset[date]:
    if check.is_of_each_day:
        return _failing_days(rows, partition_column, check, days)
    if not days or check.holds(rows):
        return frozenset()
    # It may be about the days together, such as a greatest total; then none of them is in order.
    return _failing_days(rows, partition_column, check, days) or frozenset(days)


def _failing_days(
    rows: DataFrame, partition_column: str, check: PanderaCheck, days: Sequence[date]
) -> frozenset[date]:
    day = F.col(partition_column)
    return frozenset(one for one in days if not check.holds(rows.where(day == F.lit(one))))
