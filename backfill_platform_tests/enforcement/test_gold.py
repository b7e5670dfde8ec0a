"""gold.sla_breaches_daily against plain counting."""

from collections import Counter
from datetime import timedelta
from typing import Any

from pyspark.sql import DataFrame

from backfill_platform.domain.partitions import DayRange
from backfill_platform.enforcement.gold import CASES, SLA_BREACHES_DAILY
from backfill_platform_tests.enforcement.running import (
    DAYS,
    output_totals,
    rows_of,
    source_totals,
    transform,
)

KEY = ("business_date", "jurisdiction", "case_class")
# The first day of silver is warm-up for gold.
GOLD_DAYS = DayRange(DAYS.start + timedelta(days=1), DAYS.end_exclusive)


def counted(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    breached = {(case["business_date"], case["case_id"]) for case in cases if case["is_breached"]}
    counts: dict[tuple[Any, ...], Counter[str]] = {}
    for case in cases:
        day_before = case["business_date"] - timedelta(days=1)
        group = counts.setdefault(tuple(case[name] for name in KEY), Counter())
        group["open_cases"] += case["state"] != "CLOSED"
        group["breached_cases"] += case["is_breached"]
        group["newly_breached"] += (
            case["is_breached"] and (day_before, case["case_id"]) not in breached
        )
        group["paused_cases"] += case["state"] == "PAUSED"
    return [
        dict(zip(KEY, group, strict=True)) | dict(totals)
        for group, totals in sorted(counts.items())
        if group[0] in GOLD_DAYS
    ]


def test_gold_counts_what_silver_holds(silver: DataFrame) -> None:
    found = rows_of(transform(SLA_BREACHES_DAILY, {CASES: silver}, GOLD_DAYS), *KEY)
    assert found == counted(rows_of(silver, "business_date", "case_id"))


def test_gold_reconciles_exactly_with_silver(silver: DataFrame) -> None:
    output = transform(SLA_BREACHES_DAILY, {CASES: silver}, GOLD_DAYS)
    totals = source_totals(SLA_BREACHES_DAILY, {CASES: silver}, GOLD_DAYS)
    assert output_totals(SLA_BREACHES_DAILY, output) == totals
