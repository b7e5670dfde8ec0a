"""Three readers agree on old and new partitions once a column was added, widened and removed."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.changes import ChangeCount
from backfill_platform.domain.contracts import Column, Contract
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.transforms import Frames, TransformContext, TransformVersion
from backfill_platform.engine.carry_out.staging import stage_chunk
from backfill_platform.engine.carry_out.starting import open_run
from backfill_platform.engine.platform import Platform
from backfill_platform.engine.publish.comparing import compare_run
from backfill_platform.engine.publish.publishing import publish_chunk
from backfill_platform_tests.delta_reader import read_table
from backfill_platform_tests.readings import BRONZE, START, land, load, week

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAYS = week(days=3)
FIRST, SECOND, THIRD = (DayRange(day, day + timedelta(days=1)) for day in DAYS)
Row = tuple[Any, ...]
BEYOND = 2**40  # more than an integer holds
LONG = Column(name="amount", type="long", is_nullable=False)
NOTE = Column(name="note", type="string", is_nullable=True)


def load_short(frames: Frames, context: TransformContext) -> DataFrame:
    return load(frames, context).withColumn("amount", F.col("amount").cast("int"))


def load_noted(frames: Frames, context: TransformContext) -> DataFrame:
    return load(frames, context).withColumn("note", F.upper("meter"))


def in_order(rows: Iterable[Row]) -> list[Row]:
    """Whatever they hold, nulls too."""
    return sorted(rows, key=repr)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lake:
    platform: Platform
    spark: "SparkSession"
    intent: Any

    def declaring(self, function: Any, *columns: Column) -> "Lake":
        catalog = self.platform.catalog
        spec, contract = catalog.tables[BRONZE], catalog.contracts[BRONZE]
        kept = tuple(one for one in contract.columns if one.name not in ("amount", "note"))
        version = TransformVersion(version="1.0.0", function=function, released_on=START, note="")
        changed = replace(
            catalog,
            tables={**catalog.tables, BRONZE: replace(spec, transforms=(version,))},
            contracts={
                **catalog.contracts,
                BRONZE: Contract(columns=(*kept, *columns), checks=()),
            },
        )
        return replace(self, platform=replace(self.platform, catalog=changed))

    def stage(self, days: DayRange, *consents: str) -> Any:
        intent = self.intent(
            BRONZE, days, f"{days} {consents}", accepted_schema_changes=frozenset(consents)
        )
        manifest = open_run(self.platform, intent)
        assert stage_chunk(self.platform, self.spark, manifest.run_id, days).has_passed
        return manifest

    def publish(self, days: DayRange, *consents: str) -> None:
        publish_chunk(self.platform, self.stage(days, *consents).run_id, days)

    def read(self, *columns: str, at_least: int = 0) -> list[Row]:
        """The rows of which the amount is as great, as all three readers see them."""
        path = self.platform.warehouse.table_path(BRONZE)
        by_spark = self.spark.read.format("delta").load(str(path))
        by_spark = by_spark.where(F.col("amount") >= at_least).select(*columns).collect()
        dataset = DeltaTable(path).to_pyarrow_dataset()
        by_delta_rs = dataset.to_table(list(columns), pc.field("amount") >= at_least).to_pylist()
        by_third = [row for row in read_table(path) if row["amount"] >= at_least]
        seen = [
            in_order(tuple(row[name] for name in columns) for row in rows)
            for rows in ([row.asDict() for row in by_spark], by_delta_rs, by_third)
        ]
        assert seen[0] == seen[1] == seen[2], "readers disagree about one table"
        return seen[0]


@pytest.fixture
def lake(platform, spark, intent) -> Lake:
    """Three days of integers and no note; then the second of them is declared anew and landed."""
    made = Lake(platform=platform, spark=spark, intent=intent)
    made.declaring(load_short, replace(LONG, type="integer")).publish(DAYS)
    land(platform.landing, SECOND, [("a", 1), ("b", BEYOND)])
    return made.declaring(load_noted, LONG, NOTE)


def test_three_readers_agree_on_old_and_new_partitions(lake: Lake):
    """A life of one table: starting Spark's runs anew for each step would take minutes."""
    lake.publish(SECOND)
    old = [(day, meter, n, None) for day in (*FIRST, *THIRD) for meter, n in (("a", 1), ("b", 2))]
    new = [(SECOND.start, "a", 1, "A"), (SECOND.start, "b", BEYOND, "B")]
    rows = in_order(old + new)
    assert lake.read("day", "meter", "amount", "note") == rows
    great = [row[1:3] for row in rows if row[2] >= 2]
    assert lake.read("meter", "amount", at_least=2) == in_order(great)
    lake.declaring(load, LONG).publish(THIRD, "note")
    assert lake.read("day", "meter", "amount") == in_order(row[:3] for row in rows)


def test_rows_are_compared_with_those_of_before_in_the_columns_of_now(lake: Lake):
    staged = lake.stage(SECOND)
    compared = compare_run(lake.platform, lake.spark, staged.run_id, by=["meter"]).differences
    assert compared.found.dimensions[0].values == tuple(
        ChangeCount(value=meter, added=0, removed=0, changed=1, unchanged=0) for meter in "ab"
    )
    assert compared.added_columns == ("note",)
    assert compared.found.by_column == {"amount": 1, "note": 2}
