"""What may be launched together."""

from datetime import date

import pytest

from backfill_platform.domain.errors import PlanRefused
from backfill_platform.domain.partitions import DayRange, PartitionSet
from backfill_platform.domain.tables import Input
from backfill_platform.planner.launch import refuse_split_inputs
from backfill_platform_tests.declarations import make_catalog, make_table

CATALOG = make_catalog(
    make_table("bronze", "events", chunk_days=10),
    make_table("silver", "cases", chunk_days=10, inputs=(Input(name="bronze.events"),)),
)
TEN = PartitionSet.of_range(DayRange(date(2025, 1, 1), date(2025, 1, 11)))
ELEVEN = PartitionSet.of_range(DayRange(date(2025, 1, 1), date(2025, 1, 12)))


def test_a_table_and_its_input_go_together_within_one_chunk():
    refuse_split_inputs({"bronze.events": TEN, "silver.cases": TEN}, CATALOG)


def test_beyond_one_chunk_the_refusal_says_which_to_launch_first():
    with pytest.raises(PlanRefused, match=r"launch bronze\.events first and then silver\.cases"):
        refuse_split_inputs({"bronze.events": ELEVEN, "silver.cases": ELEVEN}, CATALOG)


def test_a_table_alone_may_have_many_chunks():
    refuse_split_inputs({"silver.cases": ELEVEN}, CATALOG)
