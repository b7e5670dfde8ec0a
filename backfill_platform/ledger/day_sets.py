"""Names any number of days to the database in a few statements.

A statement takes a limited number of variables and of nested conditions, and a query for each day
takes longer than everything else about a publication.
"""

from collections.abc import Iterable, Iterator
from datetime import date

import sqlalchemy as sa

from backfill_platform.domain.partitions import PartitionSet

MOST_RANGES = 100  # SQLite nests them, up to 1,000 deep
MOST_DAYS = 5_000  # SQLite takes 32,766 variables, PostgreSQL 65,535


def conditions_on(
    column: sa.Column[date], days: Iterable[date]
) -> Iterator[sa.ColumnElement[bool]]:
    """Each day is named by exactly one of them, earlier days by earlier ones."""
    wanted = sorted(set(days))
    if not wanted:
        return
    ranges = PartitionSet.of_days(wanted).ranges
    if len(ranges) <= MOST_RANGES:
        yield sa.or_(*(column.between(one.start, one.last) for one in ranges))
        return
    for first in range(0, len(wanted), MOST_DAYS):
        yield column.in_(wanted[first : first + MOST_DAYS])
