"""One table of any number of daily partitions, and a platform over it in which nobody is asked.

What lands is as much as a benchmark wants; everything after that is the engine's own.
"""

import base64
import random
from collections.abc import Iterable
from datetime import date
from pathlib import Path

import pandera.pyspark as pa
import pyarrow as arrow
import pyarrow.parquet as parquet
import pyspark.sql.types as T
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.catalog import Declarations
from backfill_platform.domain.intents import Intent
from backfill_platform.domain.modes import ExecutionMode, Knowledge, RunKind
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.tables import FileSource, Input, Reconciliation, TableSpec
from backfill_platform.domain.transforms import Frames, TransformContext, TransformVersion
from backfill_platform.engine.platform import Platform, open_platform
from backfill_platform.ledger.migrate import migrate
from backfill_platform.settings import load_settings

START = date(2015, 1, 1)
WORD_BYTES = 90  # 120 letters
LANDED, TABLE = "landing.events", "bronze.events"
POLICY = """
plan_valid_hours: 72
principals: {}
rules:
  - {name: nobody, when: otherwise, ask: nobody}
rates:
  default: {low: 1, high: 3}
"""


class Events(pa.DataFrameModel):
    day: T.DateType = pa.Field(nullable=False)
    id: T.LongType = pa.Field(nullable=False, ge=0)
    text: T.StringType = pa.Field(nullable=False)


def load(frames: Frames, context: TransformContext) -> DataFrame:
    days = context.publish_days
    return frames.inputs[LANDED].where(F.col("day").between(days.start, days.last))


def count_landed(frames: Frames, context: TransformContext) -> DataFrame:
    return load(frames, context).groupBy("day").agg(F.count("*").alias("rows"))


DECLARATIONS = Declarations(
    sources=(
        FileSource(
            name=LANDED,
            path="events",
            day_column="day",
            start=START,
            schema=Events,
            owner="benchmarks",
            description="Events as they land.",
        ),
    ),
    references=(),
    tables=(
        TableSpec(
            layer="bronze",
            name="events",
            partition_column="day",
            start=START,
            keys=("day", "id"),
            schema=Events,
            inputs=(Input(name=LANDED),),
            transform_name="load-events",
            transforms=(
                TransformVersion(version="1.0.0", function=load, released_on=START, note="first"),
            ),
            reconciliation=Reconciliation(
                from_inputs=count_landed, from_output={"rows": "count(*)"}
            ),
            owner="benchmarks",
            description="Events by day.",
            chunk_days=10_000,  # one chunk, one commit, however many days
        ),
    ),
)


def open_world(home: Path, *, catalog: str = f"{__name__}:DECLARATIONS") -> Platform:
    policy = home / "governance.yaml"
    home.mkdir(parents=True)
    policy.write_text(POLICY, encoding="utf-8")
    settings = load_settings(
        home=home,
        catalog=catalog,
        governance=policy,
        # Spelled out: the environment that Spark starts in names the project's own data.
        ledger_url=f"sqlite:///{home / 'ledger.db'}",
        warehouse=home / "warehouse",
        landing=home / "landing",
        evidence=home / "evidence",
    )
    migrate(settings.ledger_url)
    return open_platform(settings)


def land(platform: Platform, days: Iterable[date], *, rows_each: int, said: str) -> None:
    """Other words each time, so that no partition equals the one before it; as long as a payload of
    the reference domain's events, and as hard to compress as real ones."""
    words = random.Random(said)
    for day in days:
        first = (day - START).days * rows_each
        letters = base64.b64encode(words.randbytes(rows_each * WORD_BYTES)).decode()
        length = len(letters) // rows_each
        texts = [letters[number * length : (number + 1) * length] for number in range(rows_each)]
        ids = arrow.array(range(first, first + rows_each), arrow.int64())
        table = arrow.table({"id": ids, "text": texts})
        folder = platform.landing / "events" / f"day={day}"
        folder.mkdir(parents=True, exist_ok=True)
        parquet.write_table(table, folder / "events.parquet")


def intent(origin: str, days: DayRange, table: str = TABLE) -> Intent:
    return Intent(
        table=table,
        days=PartitionSet.of_range(days),
        kind=RunKind.BACKFILL,
        mode=ExecutionMode.BACKFILL,
        knowledge=Knowledge.UP_TO_SNAPSHOT,
        reason="a benchmark",
        requested_by="benchmarks",
        origin=origin,
        group_id=origin,
    )
