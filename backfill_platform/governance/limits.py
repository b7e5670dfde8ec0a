"""How large a chunk may be, so that computing it can keep to a run's limits at all.

A chunk reads as fast as it can and is then held until its rows are allowed (see `throttle`), so one
chunk is kept to what a minute allows, where days and the table's boundary permit.
"""

from backfill_platform.domain.limits import Limits


def chunk_days_within(
    limits: Limits, *, chunk_days: int, rows_per_day: int, bytes_per_day: int
) -> int:
    """At least one day: a day is not divided."""
    bounds = (
        chunk_days,
        limits.max_partitions_at_once,
        _days_in_a_minute(limits.max_rows_per_minute, rows_per_day),
        _days_in_a_minute(limits.max_bytes_per_minute, bytes_per_day),
    )
    return max(1, min(bound for bound in bounds if bound is not None))


def _days_in_a_minute(allowed: int | None, per_day: int) -> int | None:
    return None if allowed is None or per_day < 1 else allowed // per_day
