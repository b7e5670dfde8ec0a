"""Runs the declared transforms on frames made for a test."""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from backfill_platform.domain.modes import ExecutionMode, Knowledge
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.tables import TableSpec
from backfill_platform.domain.transforms import Frames, InputWindow, TransformContext
from backfill_platform.enforcement.reference.editions import (
    JURISDICTION_CALENDAR,
    RESTATED,
    calendar_path,
)
from backfill_platform_tests.enforcement.oracle import Delivered

CALENDAR = JURISDICTION_CALENDAR.load(calendar_path(RESTATED))

# The generated world of conftest: what has arrived in it, and the days that tests ask for.
ARRIVALS = DayRange(date(2024, 12, 1), date(2025, 2, 16))
DAYS = DayRange(date(2025, 1, 13), date(2025, 1, 19))

LANDED_TYPES = """
    event_id string, case_id string, jurisdiction string, case_class string, event_type string,
    occurred_at timestamp, effective_at timestamp, source_version int, op string,
    emitted_at timestamp, payload string, arrival_date date
"""

_BRONZE = pa.schema(
    {
        "arrival_date": pa.date32(),
        "event_id": pa.string(),
        "source_version": pa.int32(),
        "delivery": pa.int32(),
        "case_id": pa.string(),
        "jurisdiction": pa.string(),
        "case_class": pa.string(),
        "event_type": pa.string(),
        "occurred_at": pa.timestamp("us", tz="UTC"),
        "effective_at": pa.timestamp("us", tz="UTC"),
        "op": pa.string(),
    }
)


def context_of(
    spec: TableSpec, days: DayRange, knowledge: Knowledge, version: str
) -> TransformContext:
    """As the platform makes it: nothing that is known later counts as known at the time."""
    has_late_days = knowledge is Knowledge.UP_TO_SNAPSHOT
    return TransformContext(
        run_id="run",
        mode=ExecutionMode.BACKFILL,
        knowledge=knowledge,
        reason="tests",
        run_started_at=datetime(2026, 7, 4, tzinfo=UTC),
        transform_name=spec.transform_name,
        transform_version=version,
        config_hash="none",
        publish_days=days,
        windows={
            used.name: InputWindow(
                before_days=used.warm_up_days, after_days=used.late_days if has_late_days else 0
            )
            for used in spec.inputs
        },
        reference_versions={"jurisdiction_calendar": RESTATED},
    )


def transform(
    spec: TableSpec,
    inputs: Mapping[str, DataFrame],
    days: DayRange,
    *,
    knowledge: Knowledge = Knowledge.UP_TO_SNAPSHOT,
    version: str | None = None,
) -> DataFrame:
    chosen = spec.transform(version) if version else spec.transforms[-1]
    assert chosen is not None
    frames = Frames(inputs=inputs, references={"jurisdiction_calendar": CALENDAR})
    return chosen.function(frames, context_of(spec, days, knowledge, chosen.version))


def source_totals(
    spec: TableSpec,
    inputs: Mapping[str, DataFrame],
    days: DayRange,
    *,
    knowledge: Knowledge = Knowledge.UP_TO_SNAPSHOT,
) -> list[dict[str, Any]]:
    """What the inputs say that a table must hold."""
    frames = Frames(inputs=inputs, references={"jurisdiction_calendar": CALENDAR})
    context = context_of(spec, days, knowledge, spec.transforms[-1].version)
    return _counted(spec, spec.reconciliation.from_inputs(frames, context))


def output_totals(spec: TableSpec, output: DataFrame) -> list[dict[str, Any]]:
    """The same measures over what the transform gave."""
    measures = [F.expr(formula).alias(name) for name, formula in _measures(spec).items()]
    return _counted(spec, output.groupBy(*_parts(spec)).agg(*measures))


def _counted(spec: TableSpec, totals: DataFrame) -> list[dict[str, Any]]:
    """Parts of which nothing is counted need not be mentioned by either side."""
    rows = rows_of(totals.select(*_parts(spec), *_measures(spec)), *_parts(spec))
    return [row for row in rows if any(row[name] for name in _measures(spec))]


def _parts(spec: TableSpec) -> tuple[str, ...]:
    return (spec.partition_column, *spec.reconciliation.by)


def _measures(spec: TableSpec) -> Mapping[str, str]:
    return spec.reconciliation.from_output


def bronze_frame(spark: SparkSession, events: Iterable[Delivered]) -> DataFrame:
    rows = [
        {name: getattr(event, name, None) for name in _BRONZE.names}
        | {"source_version": event.version, "delivery": 1}
        for event in events
    ]
    return spark.createDataFrame(pa.Table.from_pylist(rows, schema=_BRONZE))


def deliveries(bronze: DataFrame) -> list[Delivered]:
    """As the oracle reads them."""
    wanted = [name for name in Delivered.__dataclass_fields__ if name != "version"]
    rows = rows_of(bronze.select(*wanted, F.col("source_version").alias("version")), "event_id")
    return [Delivered(**row) for row in rows]


def rows_of(frame: DataFrame, *order: str) -> list[dict[str, Any]]:
    """Rows as plain values, instants aware, in a fixed order."""
    rows = frame.toArrow().to_pylist()
    return sorted(rows, key=lambda row: tuple(row[name] for name in order))
