"""A table of stations whose output is what a test says, and its corrections computed by Spark.

`restate` does what the executor does around the transform of a table that is merged by key: earlier
corrections stay, the new ones are given their lineage.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any

import pandera.pyspark as pa
import pyspark.sql.types as T
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from backfill_platform.corrections.declare import corrections_of
from backfill_platform.domain.contracts import LINEAGE_COLUMNS
from backfill_platform.domain.identity import RunId
from backfill_platform.domain.measurements import SourceMeasurement
from backfill_platform.domain.modes import ExecutionMode, Knowledge
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.tables import Input, Reconciliation, TableSpec
from backfill_platform.domain.transforms import Frames, TransformContext, TransformVersion
from backfill_platform.domain.verdicts import Gate, Verdict
from backfill_platform.validator.contract import read_contract, spark_schema
from backfill_platform.validator.gates.judging import judge
from backfill_platform.validator.gates.rules import GateRules
from backfill_platform.validator.measure import measure_staged
from backfill_platform.validator.measure_plan import NOTHING_TO_PROTECT, plan_measurement
from backfill_platform.validator.measure_source import measure_source

DAY, NEXT = date(2025, 1, 1), date(2025, 1, 2)
DAYS = DayRange(DAY, date(2025, 1, 3))
COMPUTED = "landing.computed"


class Stations(pa.DataFrameModel):
    day: T.DateType = pa.Field(nullable=False)
    station: T.StringType = pa.Field(nullable=False)
    count: T.LongType = pa.Field(nullable=False, ge=0)
    price: T.DecimalType = pa.Field(nullable=True, dtype_kwargs={"precision": 12, "scale": 2})
    seen_at: T.TimestampType = pa.Field(nullable=True)
    is_open: T.BooleanType = pa.Field(nullable=True)


COLUMNS = ("day", "station", "count", "price", "seen_at", "is_open")


def stations(frames: Frames, _context: TransformContext) -> DataFrame:
    return frames.inputs[COMPUTED].select(*COLUMNS)


def count_stations(frames: Frames, _context: TransformContext) -> DataFrame:
    return frames.inputs["landing.counted"]


STATIONS = TableSpec(
    layer="silver",
    name="station_days",
    partition_column="day",
    start=DAY,
    keys=("station", "day"),
    schema=Stations,
    inputs=(Input(name=COMPUTED), Input(name="landing.counted")),
    transform_name="stations",
    transforms=(
        TransformVersion(version="1.0.0", function=stations, released_on=DAY, note="tests"),
    ),
    reconciliation=Reconciliation(
        from_inputs=count_stations, from_output={"counted": "sum(count)"}
    ),
    owner="tests",
    description="Stations by day.",
)

CONTRACT = read_contract(Stations)
CORRECTIONS = corrections_of(STATIONS)
MEASURES = tuple(CORRECTIONS.reconciliation.from_output)
CORRECTIONS_CONTRACT = read_contract(CORRECTIONS.schema)
MEASURED = plan_measurement(
    CORRECTIONS, CORRECTIONS_CONTRACT, run_id=RunId("tests"), protection=NOTHING_TO_PROTECT
)
Rows = Iterable[tuple[Any, ...]]


def context(run_id: str) -> TransformContext:
    return TransformContext(
        run_id=run_id,
        mode=ExecutionMode.BACKFILL,
        knowledge=Knowledge.UP_TO_SNAPSHOT,
        reason=f"why of {run_id}",
        run_started_at=datetime(2026, 7, 4, tzinfo=UTC),
        transform_name="stations",
        transform_version="1.0.0",
        config_hash="",
        publish_days=DAYS,
        windows={},
        reference_versions={},
    )


@dataclass(frozen=True)
class World:
    """What is published now, and how it looks to Spark."""

    spark: SparkSession
    original: DataFrame
    corrections: DataFrame
    uncounted: int = 0  # by which the inputs say more than the transform computes

    def corrected_by(self, run_id: str, rows: Rows) -> "World":
        """After a run of corrections whose transform computed these rows."""
        return replace(self, corrections=self.staged_by(run_id, rows))

    def replaced_by(self, run_id: str, rows: Rows) -> "World":
        """After a restatement of the original itself."""
        return replace(self, original=_with_lineage(_frame(self.spark, rows), run_id))

    def found_by(self, run_id: str, rows: Rows) -> DataFrame:
        """What the transform of the corrections returns."""
        function = CORRECTIONS.transforms[0].function
        return function(self.frames(rows), context(run_id))

    def staged_by(self, run_id: str, rows: Rows) -> DataFrame:
        found = _with_lineage(self.found_by(run_id, rows), run_id)
        staged = self.corrections.unionByName(found)
        # As written to staging: later runs must not compute it once more.
        return self.spark.createDataFrame(staged.collect(), staged.schema)

    def expected_by(self, run_id: str, rows: Rows) -> tuple[SourceMeasurement, ...]:
        """What the inputs say of the corrections that this run has to find."""
        totals = CORRECTIONS.reconciliation.from_inputs(self.frames(rows), context(run_id))
        return measure_source(totals, MEASURED)

    def judged(self, run_id: str, rows: Rows) -> tuple[Verdict, ...]:
        return judge_staged(self.staged_by(run_id, rows), self.expected_by(run_id, rows))

    def frames(self, rows: Rows) -> Frames:
        computed = _frame(self.spark, rows)
        counted = computed.groupBy("day").agg((F.sum("count") + self.uncounted).alias("counted"))
        return Frames(
            inputs={
                COMPUTED: computed,
                "landing.counted": counted,
                "silver.station_days": self.original,
            },
            references={},
            base=self.corrections,
        )


def judge_staged(staged: DataFrame, expected: tuple[SourceMeasurement, ...]) -> tuple[Verdict, ...]:
    """Every verdict over staged corrections, as the engine takes and judges them."""
    found = measure_staged(staged, MEASURED)
    rules = GateRules(
        gates=(Gate.KEY_UNIQUE, Gate.VALUES_VALID, Gate.RECONCILED),
        may_be_empty=True,
        reconciled=MEASURES,
    )
    return judge(DAYS, found, expected, rules)


def published(spark: SparkSession, rows: Rows, run_id: str = "first") -> World:
    empty = _with_lineage(spark.createDataFrame([], spark_schema(CORRECTIONS_CONTRACT)), "nobody")
    return World(
        spark=spark, original=_with_lineage(_frame(spark, rows), run_id), corrections=empty
    )


def failures(verdicts: Iterable[Verdict]) -> Mapping[str, str]:
    return {verdict.gate.value: verdict.message for verdict in verdicts if not verdict.has_passed}


def _frame(spark: SparkSession, rows: Rows) -> DataFrame:
    return spark.createDataFrame(list(rows), spark_schema(CONTRACT))


def _with_lineage(rows: DataFrame, run_id: str) -> DataFrame:
    values = {column.name: F.lit(f"{column.name} of {run_id}") for column in LINEAGE_COLUMNS}
    return rows.withColumns(values | {"produced_by_run_id": F.lit(run_id)})
