"""Tells where the instants of a row lie outside of what is declared for its day."""

from datetime import timedelta

from pyspark.sql import Column
from pyspark.sql import functions as F

from backfill_platform.domain.quality import InstantBound

_MICROSECONDS_A_DAY = 86_400_000_000


def is_outside(bound: InstantBound, column_type: str, day: Column) -> Column:
    """In whole microseconds since 1970, which no session's time zone changes."""
    column = F.col(bound.column)
    instant = _midnight(column) if column_type == "date" else F.unix_micros(column)
    since_day = instant - _midnight(day)
    return (since_day < _microseconds(bound.earliest)) | (since_day >= _microseconds(bound.latest))


def _midnight(day: Column) -> Column:
    return F.unix_date(day).cast("bigint") * F.lit(_MICROSECONDS_A_DAY)


def _microseconds(span: timedelta) -> Column:
    return F.lit(span // timedelta(microseconds=1)).cast("bigint")
