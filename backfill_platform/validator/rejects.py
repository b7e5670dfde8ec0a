"""Counts the rows that a run has set aside, by day and reason: from what was written. No JVM.

Reasons stand in verdicts and in the evidence, so they have to be kinds of rows and not rows.
"""

from collections import defaultdict
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from backfill_platform.domain.errors import ContractBroken
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.transforms import REJECT_REASON
from backfill_platform.lakehouse.rows import read_rows

MOST_REASONS = 50  # of a chunk
LONGEST_REASON = 100  # characters


def count_rejects(
    path: Path, partition_column: str, days: DayRange
) -> dict[date, Mapping[str, int]]:
    """Only days with some; nothing where nothing was ever set aside."""
    found = read_rows(
        path, columns=[partition_column, REJECT_REASON], days=PartitionSet.of_range(days)
    )
    if found is None:
        return {}
    counted = found.group_by([partition_column, REJECT_REASON]).aggregate([([], "count_all")])
    _refuse_rows_own_words(frozenset(counted.column(REJECT_REASON).to_pylist()))
    by_day: dict[date, dict[str, int]] = defaultdict(dict)
    for row in counted.to_pylist():
        by_day[row[partition_column]][row[REJECT_REASON]] = row["count_all"]
    return {day: dict(sorted(by_day[day].items())) for day in sorted(by_day)}


def _refuse_rows_own_words(reasons: frozenset[str]) -> None:
    """Without quoting one: it may hold what nobody is to read."""
    longest = max(map(len, reasons), default=0)
    if len(reasons) <= MOST_REASONS and longest <= LONGEST_REASON:
        return
    raise ContractBroken(
        f"Rows were set aside for {len(reasons)} different reasons, the longest of {longest} "
        f"characters; at most {MOST_REASONS} of {LONGEST_REASON} are taken, because they stand in "
        f"verdicts and in the evidence. Let `{REJECT_REASON}` name kinds of rows, and put what a "
        "row says in other columns"
    )
