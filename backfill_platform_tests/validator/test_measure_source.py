"""What the inputs say of a day, read exactly and in the shape of what is staged."""

from datetime import date
from decimal import Decimal

import pytest

from backfill_platform.domain.contracts import Contract
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.domain.measurements import SourceMeasurement
from backfill_platform.domain.quality import Measure
from backfill_platform.validator.measure_plan import MeasurePlan
from backfill_platform.validator.measure_source import measure_source

DAY, NEXT = date(2025, 1, 1), date(2025, 1, 2)


def plan(*by):
    return MeasurePlan(
        table="silver.names",
        contract=Contract(columns=(), checks=()),
        partition_column="day",
        keys=("day",),
        reconciled=(Measure(name="total", expression="sum(amount)", by=by),),
    )


def test_without_a_dimension_each_day_has_its_figures(spark):
    totals = spark.createDataFrame(
        [(NEXT, Decimal("0.10")), (DAY, None)], "day date, total decimal(38,2)"
    )
    assert measure_source(totals, plan()) == (
        SourceMeasurement(day=DAY, measures={"total": 0}),
        SourceMeasurement(day=NEXT, measures={"total": Decimal("0.1")}),
    )


def test_a_day_is_the_sum_of_its_parts(spark):
    rows = [(DAY, "a", True, 2**60), (DAY, None, False, 1)]
    totals = spark.createDataFrame(rows, "day date, name string, open boolean, total long")
    assert measure_source(totals, plan("name", "open")) == (
        SourceMeasurement(
            day=DAY,
            measures={"total": 2**60 + 1},
            by_dimension={"total": {"a / true": 2**60, "null / false": 1}},
        ),
    )


@pytest.mark.parametrize(
    ("schema", "by", "named"),
    [
        ("day date, total double", (), "'total' gives double"),
        ("day date, count long", (), "no column total"),
        ("day date, total long", ("name",), "no column name"),
    ],
)
def test_what_cannot_be_read_exactly_is_refused_with_its_table(spark, schema, by, named):
    totals = spark.createDataFrame([], schema)
    with pytest.raises(DeclarationInvalid, match=rf"silver\.names: .*from_inputs: .*{named}"):
        measure_source(totals, plan(*by))
