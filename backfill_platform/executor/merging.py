"""Merges a run's changes into what its days hold: key by key the row with the higher version stays.

The outcome is the whole partition, which is then staged, measured and published like any other. It
depends on the rows alone, not on their order or on tasks, so a retry gives the same. That nothing
came in since the base was pinned is the publisher's to see.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

from backfill_platform.domain.merges import MergeCounts
from backfill_platform.domain.tables import KeyedMerge

_BASE, _CHANGE = "base", "change"


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    rows: DataFrame
    seen: Observation  # filled when the rows are written

    def counts(self) -> MergeCounts:
        """Only after the rows were written: before that it waits for ever."""
        return MergeCounts(**self.seen.get)


def merge_by_key(
    base: DataFrame,
    changes: DataFrame,
    *,
    keys: Sequence[str],
    content: Sequence[str],
    rule: KeyedMerge,
) -> Merged:
    """Both frames have the same columns; `content` are those that make two rows equal.

    A deleted key stays as a row that says so. A key with two changes keeps as many rows, whatever
    their versions, so that the gate on unique keys sees them.

    Invariant: in a merged partition no row is older than the one that the base holds for its key
    (test_the_merge_agrees_with_its_model).
    """
    meeting = [F.col(f"{_CHANGE}.{key}").eqNullSafe(F.col(f"{_BASE}.{key}")) for key in keys]
    met = _as_one_column(changes, _CHANGE).join(_as_one_column(base, _BASE), meeting, "full")
    fate = _Fate(rule, content)
    seen = Observation()
    row = F.when(fate.is_applied, F.col(_CHANGE)).otherwise(F.col(_BASE))
    rows = met.observe(seen, *fate.counted).select(row.alias("row")).select("row.*")
    return Merged(rows=rows, seen=seen)


class _Fate:
    """What becomes of a change, where it has met the base's row of its key or found none."""

    def __init__(self, rule: KeyedMerge, content: Sequence[str]) -> None:
        version = F.col(f"{_CHANGE}.{rule.version_column}")
        base_version = F.col(f"{_BASE}.{rule.version_column}")
        is_change, is_met = F.col(_CHANGE).isNotNull(), F.col(_BASE).isNotNull()
        # A version that is null is not older: it goes through, to the gate that counts nulls.
        is_older = F.coalesce(version < base_version, F.lit(False))
        self.is_stale = is_change & is_met & is_older
        self.is_repeated = is_change & is_met & _all_equal(content)
        self.is_applied = is_change & ~self.is_stale & ~self.is_repeated
        self.is_deletion = self.is_applied & _deletes(rule)
        self.is_untouched = ~is_change

    @property
    def counted(self) -> tuple[Column, ...]:
        return (
            F.count_if(self.is_applied).alias("applied"),
            F.count_if(self.is_deletion).alias("deleted"),
            F.count_if(self.is_stale).alias("stale"),
            F.count_if(self.is_repeated).alias("repeated"),
            F.count_if(self.is_untouched).alias("untouched"),
        )


def _as_one_column(rows: DataFrame, side: str) -> DataFrame:
    """So that rows of both sides meet without their columns being mistaken for each other."""
    return rows.select(F.struct("*").alias(side))


def _all_equal(content: Sequence[str]) -> Column:
    """Nulls are equal to nulls. The version is content: equal rows have equal versions."""
    equal = F.lit(True)
    for name in content:
        equal = equal & F.col(f"{_CHANGE}.{name}").eqNullSafe(F.col(f"{_BASE}.{name}"))
    return equal


def _deletes(rule: KeyedMerge) -> Column:
    if rule.operation_column is None:
        return F.lit(False)
    return F.col(f"{_CHANGE}.{rule.operation_column}") == rule.delete_operation
