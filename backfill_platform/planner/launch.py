"""What may be launched together: one intent over several tables, cut into the chunks of each."""

from collections.abc import Iterator, Mapping

from backfill_platform.domain.catalog import Catalog
from backfill_platform.domain.errors import PlanRefused
from backfill_platform.domain.partitions import PartitionSet


def refuse_split_inputs(launched: Mapping[str, PartitionSet], catalog: Catalog) -> None:
    """A table and its input may share a launch only where one chunk holds all of the input.

    Otherwise the first chunk of the table would pin its input before the input's other chunks have
    landed.
    """
    reasons = tuple(_split_inputs(launched, catalog))
    if reasons:
        raise PlanRefused(reasons)


def _split_inputs(launched: Mapping[str, PartitionSet], catalog: Catalog) -> Iterator[str]:
    for table, used in _launched_pairs(launched, catalog):
        chunk_days = catalog.tables[used].chunk_days
        if len(launched[used].split(chunk_days)) > 1:
            yield (
                f"{table} and its input {used} are launched together over {len(launched[used])} "
                f"days, which is more than one chunk of {chunk_days}; launch {used} first and then "
                f"{table}, or both over fewer days"
            )


def _launched_pairs(
    launched: Mapping[str, PartitionSet], catalog: Catalog
) -> Iterator[tuple[str, str]]:
    for table in launched:
        for used in catalog.tables[table].inputs:
            if used.name in launched:
                yield table, used.name
