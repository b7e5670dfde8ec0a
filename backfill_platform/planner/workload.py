"""What the chunks of a run are and read: reckoned exactly, from logs and listings.

Limits make chunks smaller here. What computing them is expected to take is guessed in `estimate`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from backfill_platform.domain.catalog import LONGEST_UNIT_DAYS
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.limits import Limits
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.tables import TableSpec
from backfill_platform.planner.facts import InputFacts
from backfill_platform.planner.scope import input_days, input_window


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    chunk_days: int
    chunks: tuple[DayRange, ...]
    parts: tuple[DayRange, ...]  # of the chunks, that are computed; all of them, as a rule
    partitions: int  # that are computed
    unchanged: int  # that are not
    rows: int  # of all inputs over the input range, each day once
    bytes: int
    rows_by_chunks: int  # as the parts read them: days that two of them need count twice
    own_rows: int  # of the days to compute alone


def measure_workload(
    intent: Intent,
    spec: TableSpec,
    inputs: Mapping[str, InputFacts],
    chunk_days: int,
    unchanged: Collection[date] = (),
) -> Workload:
    chunks = intent.days.split(chunk_days, spec.boundary)
    parts = tuple(part for chunk in chunks for part in _computed(chunk, unchanged))
    computed = [day for part in parts for day in part]
    needed = {
        used.name: {
            day for part in parts for day in input_days(part, input_window(used, intent.knowledge))
        }
        for used in spec.inputs
    }
    return Workload(
        chunk_days=chunk_days,
        chunks=chunks,
        parts=parts,
        partitions=len(computed),
        unchanged=len(intent.days) - len(computed),
        rows=sum(_sum(inputs[name].rows, days) for name, days in needed.items()),
        bytes=sum(_sum(inputs[name].bytes, days) for name, days in needed.items()),
        rows_by_chunks=sum(
            _sum(inputs[used.name].rows, input_days(part, input_window(used, intent.knowledge)))
            for used in spec.inputs
            for part in parts
        ),
        own_rows=sum(_sum(inputs[used.name].rows, computed) for used in spec.inputs),
    )


def fit_chunk_days(
    intent: Intent, spec: TableSpec, inputs: Mapping[str, InputFacts], limits: Limits
) -> int:
    """As many days as the table declares, or as the limits allow; never less than a whole unit.

    A chunk's own days should fit into what a minute may read. Its warm-up does not count: smaller
    chunks would only read more of it.
    """
    allowed = [spec.chunk_days, *_days_allowed(intent, spec, inputs, limits)]
    return max(min(allowed), LONGEST_UNIT_DAYS[spec.boundary])


def _days_allowed(
    intent: Intent, spec: TableSpec, inputs: Mapping[str, InputFacts], limits: Limits
) -> Iterator[int]:
    known = [inputs[used.name] for used in spec.inputs]
    most_rows = max(sum(one.rows.get(day, 0) for one in known) for day in intent.days)
    most_bytes = max(sum(one.bytes.get(day, 0) for one in known) for day in intent.days)
    if limits.max_partitions_at_once is not None:
        yield limits.max_partitions_at_once
    if limits.max_rows_per_minute is not None and most_rows:
        yield limits.max_rows_per_minute // most_rows
    if limits.max_bytes_per_minute is not None and most_bytes:
        yield limits.max_bytes_per_minute // most_bytes


def _computed(chunk: DayRange, unchanged: Collection[date]) -> tuple[DayRange, ...]:
    days = [day for day in chunk if day not in unchanged]
    return PartitionSet.of_days(days).ranges if days else ()


def _sum(by_day: Mapping[date, int], days: Iterable[date]) -> int:
    return sum(by_day.get(day, 0) for day in days)
