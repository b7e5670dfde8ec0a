"""A small world with a promise of every kind, so that each gate has something to be poisoned by.

landing.orders ─► silver.orders, ten orders a day in two shops; version 1.1.0 loses a tenth of them.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandera.pyspark as pa
import pyarrow as arrow
import pyarrow.parquet as parquet
import pyspark.sql.types as T
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from backfill_platform.domain.catalog import Declarations
from backfill_platform.domain.modes import Classification
from backfill_platform.domain.partitions import DayRange
from backfill_platform.domain.privacy import Mask, Privacy
from backfill_platform.domain.quality import (
    ROW_COUNT,
    ChangeBound,
    GoldenFigure,
    InstantBound,
    Quality,
    Relation,
    Tolerance,
)
from backfill_platform.domain.tables import (
    FileSource,
    Input,
    Reconciliation,
    ReferenceData,
    ReferenceUse,
    ReferenceVersion,
    TableSpec,
)
from backfill_platform.domain.transforms import (
    REJECT_REASON,
    Computed,
    Frames,
    TransformContext,
    TransformVersion,
)

START = date(2025, 1, 1)
DAYS = DayRange(START, date(2025, 1, 4))
POISONED, GOLDEN_DAY = date(2025, 1, 2), date(2025, 1, 3)
LANDING, ORDERS = "landing.orders", "silver.orders"
SHOPS = ("north", "south")
ONE_DAY = timedelta(days=1)


class LandedOrders(pa.DataFrameModel):
    day: T.DateType = pa.Field(nullable=False)
    order_id: T.StringType = pa.Field(nullable=True)
    shop: T.StringType = pa.Field(nullable=True)
    paid_with: T.StringType = pa.Field(nullable=True)
    amount: T.LongType = pa.Field(nullable=True)
    placed_at: T.TimestampType = pa.Field(nullable=True)
    phone: T.StringType = pa.Field(nullable=True)


class Orders(pa.DataFrameModel):
    day: T.DateType = pa.Field(nullable=False)
    order_id: T.StringType = pa.Field(nullable=False)
    shop: T.StringType = pa.Field(nullable=False)
    paid_with: T.StringType = pa.Field(nullable=False, isin=["card", "cash"])
    amount: T.LongType = pa.Field(nullable=False, le=1000)
    placed_at: T.TimestampType = pa.Field(nullable=False)
    phone: T.StringType = pa.Field(nullable=True)


COLUMNS = ("day", "order_id", "shop", "paid_with", "amount", "placed_at", "phone")


def _own_days(frames: Frames, context: TransformContext) -> DataFrame:
    days = context.publish_days
    return frames.inputs[LANDING].where(F.col("day").between(days.start, days.last))


def take(frames: Frames, context: TransformContext) -> Computed:
    """A refund is no order: it is set aside."""
    landed = _own_days(frames, context)
    is_refund = F.col("amount") < 0
    return Computed(
        rows=landed.where(~is_refund).select(*COLUMNS),
        rejects=landed.where(is_refund).select(
            "day", "order_id", F.lit("negative amount").alias(REJECT_REASON)
        ),
    )


def take_nine_tenths(frames: Frames, context: TransformContext) -> Computed:
    taken = take(frames, context)
    return Computed(rows=taken.rows.where(~F.col("order_id").endswith("9")), rejects=taken.rejects)


def count_landed(frames: Frames, context: TransformContext) -> DataFrame:
    counted = _own_days(frames, context).where("amount >= 0")
    return counted.groupBy("day", "shop").agg(
        F.count("*").alias("orders"), F.sum("amount").alias("revenue")
    )


def known_shops(shops: Iterable[str]) -> Iterable[str]:
    return shops


def _load_shops(path: Path) -> list[str]:
    return json.loads(path.read_text())


def _version(version: str, function: Any) -> TransformVersion:
    return TransformVersion(version=version, function=function, released_on=START, note="tests")


def _usual(measure: str) -> ChangeBound:
    return ChangeBound(measure=measure, fall_percent=Decimal(20), rise_percent=Decimal(20))


QUALITY = Quality(
    rows_least=5,
    rejects_most=1,
    relations=(Relation(name="shop", columns=("shop",), to="shops", known=known_shops),),
    instants=(InstantBound(column="placed_at", earliest=timedelta(0), latest=ONE_DAY),),
    golden=(
        GoldenFigure(
            day=GOLDEN_DAY,
            measure="revenue",
            value="north",
            figure=Decimal(500),
            origin="the filed report of January",
        ),
    ),
    changes=(_usual(ROW_COUNT), _usual("revenue")),
    late_rows=Tolerance(),
)

DECLARATIONS = Declarations(
    sources=(
        FileSource(
            name=LANDING,
            path="orders",
            day_column="day",
            start=START,
            schema=LandedOrders,
            owner="shops",
            description="Orders as the shops send them.",
        ),
    ),
    references=(
        ReferenceData(
            name="shops",
            versions=(
                ReferenceVersion(
                    version="v1",
                    recorded_on=START,
                    path=Path(__file__).parent / "shops-v1.json",
                    note="tests",
                ),
            ),
            load=_load_shops,
            owner="shops",
            description="Which shops there are.",
        ),
    ),
    tables=(
        TableSpec(
            layer="silver",
            name="orders",
            partition_column="day",
            start=START,
            keys=("day", "order_id"),
            schema=Orders,
            inputs=(Input(name=LANDING),),
            references=(ReferenceUse(name="shops", version="v1"),),
            transform_name="take-orders",
            transforms=(_version("1.0.0", take), _version("1.1.0", take_nine_tenths)),
            reconciliation=Reconciliation(
                from_inputs=count_landed,
                from_output={"orders": "count(*)", "revenue": "sum(amount)"},
                by=("shop",),
            ),
            privacy=Privacy(
                column_classes={"phone": Classification.RESTRICTED},
                masks={"phone": Mask.LAST_FOUR},
            ),
            quality=QUALITY,
            owner="shops",
            description="Orders by day.",
        ),
    ),
)

Order = Mapping[str, Any]


@dataclass(frozen=True)
class Delivery:
    """What lands for one day, as a file of its own."""

    orders: tuple[Order, ...]
    file: str = "orders"


def ten_orders(day: date) -> tuple[Order, ...]:
    """One every two hours from midnight on."""
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return tuple(
        {
            "order_id": f"{day}/{number}",
            "shop": SHOPS[number % 2],
            "paid_with": "card",
            "amount": 100,
            "placed_at": midnight + timedelta(hours=2 * number),
            "phone": f"+49 30 555000{number}",
        }
        for number in range(10)
    )


_SCHEMA = arrow.schema(
    {
        "order_id": arrow.string(),
        "shop": arrow.string(),
        "paid_with": arrow.string(),
        "amount": arrow.int64(),
        "placed_at": arrow.timestamp("us", tz="UTC"),
        "phone": arrow.string(),
    }
)


def land(landing: Path, day: date, delivery: Delivery) -> Path:
    """Columns beyond the declared ones are written as text."""
    extra = sorted({name for order in delivery.orders for name in order} - set(_SCHEMA.names))
    schema = arrow.schema([*_SCHEMA, *(arrow.field(name, arrow.string()) for name in extra)])
    folder = landing / "orders" / f"day={day}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{delivery.file}.parquet"
    parquet.write_table(arrow.Table.from_pylist(list(delivery.orders), schema=schema), path)
    return path


def land_good_days(landing: Path) -> None:
    """As on the first day: whatever else lies there is taken away."""
    for day in DAYS:
        for left_over in (landing / "orders" / f"day={day}").glob("*.parquet"):
            left_over.unlink()
        land(landing, day, Delivery(ten_orders(day)))
