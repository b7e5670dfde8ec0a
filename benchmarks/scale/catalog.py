"""Declarations of any number of tables: chains of a bronze, a silver and three gold tables.

Each chain has a source of its own. Nothing is computed, so a transform is never called.
"""

from datetime import date
from decimal import Decimal
from typing import Any

import pandera.pyspark as pa
import pyspark.sql.types as T

from backfill_platform.domain.catalog import Catalog, Declarations, build_catalog
from backfill_platform.domain.quality import Quality, Tolerance
from backfill_platform.domain.tables import FileSource, Input, Reconciliation, TableSpec
from backfill_platform.domain.transforms import Frames, TransformContext, TransformVersion
from backfill_platform.validator.contract import read_contract

CHAIN = ("bronze.{}_raw", "silver.{}_clean", "gold.{}_a", "gold.{}_b", "gold.{}_c")
SOURCE = "landing.{}"
DAY = "day"
WARM_UP_DAYS = 7
_LATE = Quality(late_rows=Tolerance(percent=Decimal(1)))


class Events(pa.DataFrameModel):
    day: T.DateType = pa.Field(nullable=False)
    id: T.LongType = pa.Field(nullable=False, ge=0)
    amount: T.LongType = pa.Field(nullable=False)
    text: T.StringType = pa.Field(nullable=False)


def never_computed(frames: Frames, context: TransformContext) -> Any:
    raise AssertionError("nothing is computed here")


def chain_name(number: int) -> str:
    return f"c{number:04}"


def chain_tables(number: int) -> tuple[str, ...]:
    return tuple(table.format(chain_name(number)) for table in CHAIN)


def make_catalog(tables: int, start: date) -> Catalog:
    chains = [*range(-(-tables // len(CHAIN)))]
    specs = [spec for number in chains for spec in _chain(number, start)]
    declared = Declarations(
        sources=tuple(_source(number, start) for number in chains),
        references=(),
        tables=tuple(specs[:tables]),
    )
    return build_catalog(declared, read_contract)


def _source(number: int, start: date) -> FileSource:
    return FileSource(
        name=SOURCE.format(chain_name(number)),
        path=chain_name(number),
        day_column=DAY,
        start=start,
        schema=Events,
        owner="benchmarks",
        description="Events as they land.",
    )


def _chain(number: int, start: date) -> tuple[TableSpec, ...]:
    bronze, silver, *gold = chain_tables(number)
    return (
        _table(bronze, start, Input(name=SOURCE.format(chain_name(number)))),
        _table(silver, start, Input(name=bronze, warm_up_days=WARM_UP_DAYS)),
        *(_table(table, start, Input(name=silver)) for table in gold),
    )


def _table(full_name: str, start: date, used: Input) -> TableSpec:
    layer, name = full_name.split(".")
    return TableSpec(
        layer=layer,
        name=name,
        partition_column=DAY,
        start=start,
        keys=(DAY, "id"),
        schema=Events,
        inputs=(used,),
        transform_name=f"make-{layer}",
        transforms=(
            TransformVersion(
                version="1.0.0", function=never_computed, released_on=start, note="first"
            ),
        ),
        reconciliation=Reconciliation(from_inputs=never_computed, from_output={"rows": "count(*)"}),
        owner="benchmarks",
        description="Events by day.",
        quality=_LATE,
        fresh_within_hours=48,
    )
