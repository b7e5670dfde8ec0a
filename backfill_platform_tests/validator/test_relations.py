"""Rows that refer to nothing are counted by day, whatever chunk they are computed in."""

from datetime import date

import pytest

from backfill_platform.domain.contracts import Column, Contract
from backfill_platform.domain.quality import Relation
from backfill_platform.domain.transforms import Frames, InputWindow
from backfill_platform.validator.measure import measure_staged
from backfill_platform.validator.measure_plan import MeasurePlan
from backfill_platform.validator.relations import InputDays, find_related

MONDAY, TUESDAY, WEDNESDAY = date(2026, 1, 5), date(2026, 1, 6), date(2026, 1, 7)
PLAN = MeasurePlan(
    table="silver.bills",
    contract=Contract(
        columns=tuple(
            Column(name=name, type=kind, is_nullable=True)
            for name, kind in (("day", "date"), ("meter", "string"), ("number", "long"))
        ),
        checks=(),
    ),
    partition_column="day",
    keys=("day", "meter"),
)
METERS = Relation(name="known meter", columns=("meter", "number"), to="bronze.meters")
READ_BY = Relation(
    name="named in the edition", columns=("meter",), to="edition", known=lambda given: given["all"]
)


@pytest.fixture
def orphans(spark):
    """By day, what `rows` refer to in vain: with one day of warm-up, and `a` in the edition."""

    def counted(rows, meters, relations=(METERS,)):
        known = spark.createDataFrame(meters, "on date, meter string, number int")
        frames = Frames(
            inputs={"bronze.meters": known}, references={"edition": {"all": ["a", "a"]}}
        )
        window = InputDays(column="on", window=InputWindow(before_days=1, after_days=0))
        related = find_related(spark, relations, frames, {"bronze.meters": window})
        staged = spark.createDataFrame(rows, "day date, meter string, number long")
        return {one.day: one.orphans for one in measure_staged(staged, PLAN, related)}

    return counted


def test_a_row_refers_to_what_its_own_day_may_read_and_to_no_other(orphans):
    rows = [(MONDAY, "a", 1), (TUESDAY, "a", 1), (WEDNESDAY, "a", 1), (WEDNESDAY, "b", 1)]
    meters = [(MONDAY, "a", 1), (MONDAY, "a", 1), (WEDNESDAY, "b", 1)]
    found = orphans(rows, meters)
    assert found == {
        MONDAY: {"known meter": 0},
        TUESDAY: {"known meter": 0},
        WEDNESDAY: {"known meter": 1},
    }
    assert orphans(rows[3:], meters) == {WEDNESDAY: {"known meter": 0}}


def test_a_null_refers_to_nothing_and_every_column_counts(orphans):
    rows = [(MONDAY, None, 1), (MONDAY, "a", None), (MONDAY, "a", 2), (MONDAY, "a", 1)]
    assert orphans(rows, [(MONDAY, "a", 1)]) == {MONDAY: {"known meter": 1}}


def test_each_relation_is_counted_and_no_row_twice(orphans):
    rows = [(MONDAY, "a", 1), (MONDAY, "b", 1), (MONDAY, "c", 1)]
    found = orphans(rows, [(MONDAY, "a", 1), (MONDAY, "b", 1)], (METERS, READ_BY))
    assert found == {MONDAY: {"known meter": 1, "named in the edition": 2}}
