"""Refuses to put a table in another's place where that one holds a day which nobody computed anew.

A publication names the days that change, and all others stay as they are. Of a swap nothing may
stay: a day that appeared since it was planned would stand beside the new table, or be lost.
"""

from dataclasses import replace
from pathlib import Path

from deltalake import DeltaTable

from backfill_platform.domain.publications import EMPTY_PARTITION, Publication
from backfill_platform.lakehouse.delta_tables import state_of
from backfill_platform.publisher.movements import find_movements, target_moved


def refuse_other_days(table: DeltaTable, target: Path, publication: Publication) -> None:
    """Invariant: after a swap the target holds the days of the new table and no other
    (test_a_day_that_appeared_meanwhile_is_neither_kept_nor_lost). `table` is what the commit is a
    compare-and-swap on."""
    if not publication.is_whole_table:
        return
    state = state_of(table, target, None)
    others = tuple(day for day in state.days if day not in publication.base)
    if others:
        reviewed = replace(
            publication,
            days=(*publication.days, *others),
            base={**publication.base, **dict.fromkeys(others, EMPTY_PARTITION)},
        )
        movements = find_movements(target, state, reviewed.base, others)
        raise target_moved(reviewed, state, movements, others)
