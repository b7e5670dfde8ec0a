"""A small world with gaps to find: a source, a table that loads it, and one that sums that up."""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from backfill_platform.domain.catalog import Catalog
from backfill_platform.domain.gaps import AcceptedDay, EndedRun, Gap
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.lifecycle import RunState
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.tables import Input, TableSpec
from backfill_platform.planner.gap_facts import GapFacts, HeldInput, TableFacts
from backfill_platform.planner.gaps import find_gaps
from backfill_platform_tests.declarations import make_catalog, make_table

START = date(2025, 1, 1)
TODAY = date(2025, 2, 1)
SOURCE, LOADED, SUMMED = "landing.events", "bronze.cases", "silver.cases"
ACCEPTED_AT = datetime(2025, 2, 1, 6, tzinfo=UTC)


def january(first: int, last: int | None = None) -> DayRange:
    return DayRange.closed(date(2025, 1, first), date(2025, 1, last or first))


def loaded(**changes: Any) -> TableSpec:
    return make_table("bronze", "cases", start=START, **changes)


def summed(**changes: Any) -> TableSpec:
    inputs = (Input(name=LOADED, warm_up_days=2, late_days=1),)
    return make_table("silver", "cases", start=START, **{"inputs": inputs, **changes})


def catalog(*tables: TableSpec) -> Catalog:
    return make_catalog(*(tables or (loaded(), summed())))


def accepted(
    days: Iterable[date], *, version: int = 1, rows: int = 10, at: datetime = ACCEPTED_AT
) -> dict[date, AcceptedDay]:
    one = AcceptedDay(
        run_id=RunId("bf-20250201-cases-1.0.0-001"),
        row_count=rows,
        target_version=version,
        accepted_at=at,
    )
    return dict.fromkeys(days, one)


def holding(days: Iterable[date], spec: TableSpec | None = None, **facts: Any) -> TableFacts:
    """A table whose runs published these days, ten rows each."""
    held = [*days]
    given = {"rows": dict.fromkeys(held, 10), "accepted": accepted(held)}
    return TableFacts(spec=spec or loaded(), **{**given, **facts})


def source(days: Iterable[date], **changes: Any) -> HeldInput:
    return HeldInput(**{"start": START, "days": frozenset(days), "is_source": True, **changes})


def table_input(days: Iterable[date], **changes: Any) -> HeldInput:
    return HeldInput(**{"start": START, "days": frozenset(days), **changes})


def found(
    *tables: TableFacts, inputs: Mapping[str, HeldInput], today: date = TODAY
) -> tuple[Gap, ...]:
    return find_gaps(GapFacts(today=today, tables=tables, inputs=inputs))


def in_bronze(table: TableFacts, landed: Iterable[date], **source_changes: Any) -> tuple[Gap, ...]:
    return found(table, inputs={SOURCE: source(landed, **source_changes)})


def told(gaps: Iterable[Gap]) -> list[tuple[str, str]]:
    """What a reader would compare: the kind and the days."""
    return [(gap.kind.value, str(gap.days)) for gap in gaps]


def ended(days: DayRange, state: RunState = RunState.FAILED, *, hours_ago: int = 5) -> EndedRun:
    return EndedRun(
        run_id=RunId("bf-20250131-cases-1.0.0-007"),
        state=state,
        days=PartitionSet.of_range(days),
        ended_at=datetime(2025, 2, 1, 12, tzinfo=UTC) - timedelta(hours=hours_ago),
    )
