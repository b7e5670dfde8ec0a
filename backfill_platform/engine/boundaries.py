"""Keeps weeks and months whole for tables that sum them up, wherever a range was cut."""

from backfill_platform.domain.errors import ChunkRefused
from backfill_platform.domain.partitions import DayRange
from backfill_platform.engine.platform import Platform


def refuse_cut(platform: Platform, table: str, days: DayRange) -> None:
    boundary = platform.catalog.tables[table].boundary
    whole = days.widen_to(boundary)
    if whole != days:
        raise ChunkRefused(
            f"{days} cuts a {boundary} of {table}, which is computed and published by whole ones; "
            f"ask for {whole}"
        )
